import BluetoothTypes

/// The discovered parts of a peer's database.
///
/// A cache is valid until the database changes: within a connection until Service Changed, and across connections while
/// the Database Hash stays the same (Core Vol 3 Part G 2.5.2).
package struct AttributeCache: Hashable, Sendable {
    /// The hash of the cached database; nil if the peer has none or it was not read.
    package var hash: DatabaseHash?
    /// All primary services; nil before discovery.
    package var services: [DiscoveredService]?
    /// The included services of each service, keyed by the service's first handle.
    package var includes: [UInt16: [DiscoveredService]] = [:]
    /// All characteristics of each service, keyed by the service's first handle.
    package var characteristics: [UInt16: [DiscoveredCharacteristic]] = [:]
    /// The descriptors of each characteristic, keyed by the handle of its value.
    package var descriptors: [UInt16: [DiscoveredDescriptor]] = [:]

    package var serviceChanged: UInt16? {
        characteristics.values.lazy.joined().first { $0.uuid == GATTUUID.serviceChanged }?.value
    }

    package init(hash: DatabaseHash? = nil) { self.hash = hash }

    /// Removes what a change of `range` invalidates.
    ///
    /// Services that overlap the range are removed as a whole. The list of services is removed too, since it may have
    /// grown, and so is the hash.
    package mutating func invalidate(_ range: ClosedRange<UInt16>) {
        let gone = touched(by: range)
        hash = nil
        services = nil
        for start in gone.map(\.lowerBound) {
            includes[start] = nil
            characteristics[start] = nil
        }
        includes = includes.filter { entry in
            !entry.value.contains { included in gone.contains { $0.overlaps(included.handles) } }
        }
        descriptors = descriptors.filter { entry in
            !range.contains(entry.key) && !gone.contains { $0.contains(entry.key) }
        }
    }

    private func touched(by range: ClosedRange<UInt16>) -> [ClosedRange<UInt16>] {
        let known = (services ?? []) + includes.values.joined()
        return known.map(\.handles).filter { range.overlaps($0) }
    }
}

/// The handles of the Client Characteristic Configuration descriptors that a client has found, as far as no change of
/// the database has made them invalid.
struct ConfigurationDescriptors {
    private(set) var changes: UInt64 = 0
    private var handles: [UInt16: UInt16] = [:]

    /// The descriptor of a value; nil if it has to be discovered.
    subscript(_ value: UInt16) -> UInt16? { handles[value] }

    /// Records the descriptor of a value, unless the database has changed since it was looked for.
    mutating func learn(_ descriptor: UInt16?, of value: UInt16, since change: UInt64) {
        if changes == change { handles[value] = descriptor }
    }

    mutating func databaseChanged(_ range: ClosedRange<UInt16>) {
        changes &+= 1
        handles = handles.filter { !range.contains($0.key) }
    }
}
