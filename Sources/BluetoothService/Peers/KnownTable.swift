import BluetoothTypes
import GATT

/// What is remembered of a peer's attribute table from one connection to the next, besides what a bond keeps. It is gone when
/// Bluetooth is switched off (behaviour 4.12).
struct KnownTable: Sendable {
    /// Peers whose tables are remembered; those not connected to for longest go first.
    static let maximumPeers = 64
    /// Attributes of a table that is remembered.
    static let maximumAttributes = 1_024

    /// What was found at a peer that is not bonded and does not tell of changes (behaviour 4.10).
    var found: AttributeCache?
    /// What was read, by the handle of the value (behaviour 4.9).
    var values: [AttributeHandle: PacketBuffer] = [:]
}

extension AttributeCache {
    /// Whether the peer has nothing to tell of changes with, so that what was found counts for good.
    var isForGood: Bool {
        guard let services else { return false }
        guard let own = services.first(where: { $0.uuid == GATTUUID.genericAttribute }) else { return true }
        guard let characteristics = characteristics[own.handles.lowerBound] else { return false }
        return !characteristics.contains { $0.uuid == GATTUUID.serviceChanged }
    }

    /// Attributes that it holds.
    var count: Int {
        (services ?? []).count + includes.values.joined().count + characteristics.values.joined().count
            + descriptors.values.joined().count
    }
}
