/// The part of a bonded client's state that persists between connections (Core Vol 3 Part G 2.5.2.1, 3.3.3.3 and 7.2).
///
/// The owner stores it with the bond. ``GATTServerSession/restore(_:)`` restores it, and
/// ``GATTServerDelegate/server(_:didChangeRecordOf:)`` is called when ``GATTServerSession/record`` changes.
package struct ClientRecord: Hashable, Sendable {
    /// The client's configurations, keyed by the handle of the value.
    package var configurations: [UInt16: ClientConfiguration]
    package var features: ClientFeatures
    /// The hash of the database to which the handles belong; nil if it is unknown.
    package var databaseHash: DatabaseHash?
    /// Whether the client is change-aware. If not, the missed changes are indicated to it.
    package var isChangeAware: Bool
    var missed = HandleRanges()

    package init(
        configurations: [UInt16: ClientConfiguration] = [:],
        features: ClientFeatures = [],
        databaseHash: DatabaseHash? = nil,
        isChangeAware: Bool = true,
        missedChanges: [ClosedRange<UInt16>] = []
    ) {
        self.configurations = configurations
        self.features = features
        self.databaseHash = databaseHash
        self.isChangeAware = isChangeAware
        for handles in missedChanges { missed.insert(handles) }
    }

    /// The handle ranges whose change the client has not confirmed, in order.
    package var missedChanges: [ClosedRange<UInt16>] { missed.ranges }

    /// Records a change that the client has missed. Its configurations of values in `handles` are removed.
    package mutating func databaseChanged(_ handles: ClosedRange<UInt16>, hash: DatabaseHash) {
        configurations = configurations.filter { !handles.contains($0.key) }
        missed.insert(handles)
        isChangeAware = false
        databaseHash = hash
    }
}

/// The stored records of bonded clients that are not connected.
package protocol GATTClientStore: AnyObject {
    /// Called when the database has changed. Applies `change` to each record.
    func updateRecords(_ change: (inout ClientRecord) -> Void)
}
