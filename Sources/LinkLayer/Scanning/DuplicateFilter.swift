import BluetoothTypes
import DequeModule
import HCI

/// Remembers what has been reported (Core Vol 6 Part B 4.3.3; Vol 4 Part E 7.8.11, 7.8.65): the same device with the same
/// kind of PDU, and with the same ADI if there is one. When it is full the oldest is forgotten, and reported again.
struct DuplicateFilter {
    /// Advertisements remembered at most.
    static let maximum = 512

    private struct Entry: Hashable {
        var address: BluetoothAddress
        var kind: UInt16
        var info: AdvertisingDataInfo?
    }

    private var known: Set<Entry> = []
    private var order = Deque<Entry>()

    /// Whether this has not been reported before; it is remembered now.
    mutating func isNew(_ address: BluetoothAddress, _ kind: LEAdvertisingReportKind) -> Bool {
        isNew(Entry(address: address, kind: UInt16(kind.rawValue), info: nil))
    }

    /// The same for an extended report.
    mutating func isNew(
        _ address: BluetoothAddress,
        _ kind: LEExtendedReportKind,
        _ info: AdvertisingDataInfo?
    ) -> Bool {
        isNew(Entry(address: address, kind: kind.rawValue, info: info))
    }

    private mutating func isNew(_ entry: Entry) -> Bool {
        guard known.insert(entry).inserted else { return false }
        order.append(entry)
        if order.count > Self.maximum, let oldest = order.popFirst() { known.remove(oldest) }
        return true
    }
}
