import BluetoothTypes
import GATT
import ServiceMessages

/// The part of a peer's attribute table that is cached between connections, besides what its bond stores. Discarded
/// when Bluetooth is switched off (behaviour 4.12).
struct KnownTable: Sendable {
    /// The maximum number of peers with a cached table. The ones that were connected longest ago are dropped first.
    static let maximumPeers = 64
    static let maximumAttributes = 1_024

    /// The services of a peer that is not bonded and cannot indicate changes (behaviour 4.10).
    var found: AttributeCache?
    /// The values last read, by the handle of the value (behaviour 4.9).
    var values: [AttributeHandle: PacketBuffer] = [:]
}

extension AttributeCache {
    /// Whether the peer has no Service Changed characteristic, so that its table never changes.
    var isForGood: Bool {
        guard let services else { return false }
        guard let own = services.first(where: { $0.uuid == GATTUUID.genericAttribute }) else { return true }
        guard let characteristics = characteristics[own.handles.lowerBound] else { return false }
        return !characteristics.contains { $0.uuid == GATTUUID.serviceChanged }
    }

    var count: Int {
        (services ?? []).count + includes.values.joined().count + characteristics.values.joined().count
            + descriptors.values.joined().count
    }
}
