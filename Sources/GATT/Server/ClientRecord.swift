/// What a server remembers of a bonded client between its connections (Core Vol 3 Part G 2.5.2.1, 3.3.3.3 and 7.2).
///
/// Whoever stores bonds stores it with them: ``GATTServerSession/restore(_:)`` takes it up, and
/// ``GATTServerDelegate/server(_:didChangeRecordOf:)`` tells when ``GATTServerSession/record`` is another one.
package struct ClientRecord: Hashable, Sendable {
    /// What the client has chosen, by the handles of the values.
    package var configurations: [UInt16: ClientConfiguration]
    /// What the client has announced.
    package var features: ClientFeatures
    /// The database that the handles belong to; nil when that is not known.
    package var databaseHash: DatabaseHash?
    /// Whether the client knows that database. When it does not, it is told of all that has changed.
    package var isChangeAware: Bool
    /// The changes that the client has not confirmed.
    var missed = HandleRanges()

    /// A client that has chosen nothing, or what is known of one.
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

    /// The ranges of handles whose change the client has not confirmed, in order.
    package var missedChanges: [ClosedRange<UInt16>] { missed.ranges }

    /// Takes note of a change that the client has missed: nothing may be believed of `handles`, and choices about
    /// values there are gone.
    package mutating func databaseChanged(_ handles: ClosedRange<UInt16>, hash: DatabaseHash) {
        configurations = configurations.filter { !handles.contains($0.key) }
        missed.insert(handles)
        isChangeAware = false
        databaseHash = hash
    }
}

/// The records of bonded clients that are not connected, wherever they are kept.
package protocol GATTClientStore: AnyObject {
    /// The database has changed: `change` is to be applied to each record.
    func updateRecords(_ change: (inout ClientRecord) -> Void)
}
