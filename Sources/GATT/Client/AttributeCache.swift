import BluetoothTypes

/// What has been found in a peer's database, to be kept for as long as the database stays as it is: within a connection
/// until Service Changed, and beyond it if the hash is still the same (Core Vol 3 Part G 2.5.2).
package struct AttributeCache: Hashable, Sendable {
    /// The hash of the database that all of this was found in; nil when the peer has none, or it was not read.
    package var hash: DatabaseHash?
    /// All primary services; nil before they were discovered.
    package var services: [RemoteService]?
    /// The services that a service includes, by its first handle.
    package var includes: [UInt16: [RemoteService]] = [:]
    /// All characteristics of a service, by its first handle.
    package var characteristics: [UInt16: [RemoteCharacteristic]] = [:]
    /// The descriptors of a characteristic, by the handle of its value.
    package var descriptors: [UInt16: [RemoteDescriptor]] = [:]

    /// Nothing has been found.
    package init(hash: DatabaseHash? = nil) {
        self.hash = hash
    }

    /// Forgets what lies in `range`, and nothing else: services that reach into it as a whole, and the list of services,
    /// which may have become longer. The hash is another one now.
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
