import BluetoothTypes
import DequeModule
import HCI

/// Remembers who has been reported (Core Vol 4 Part E 7.8.11). When it is full the oldest is forgotten, and reported
/// again.
struct DuplicateFilter {
    /// Devices remembered at most.
    static let maximum = 512

    private struct Entry: Hashable {
        var address: BluetoothAddress
        var kind: LEAdvertisingReportKind
    }

    private var known: Set<Entry> = []
    private var order = Deque<Entry>()

    /// Whether this has not been reported before; it is remembered now.
    mutating func isNew(_ address: BluetoothAddress, _ kind: LEAdvertisingReportKind) -> Bool {
        let entry = Entry(address: address, kind: kind)
        guard known.insert(entry).inserted else { return false }
        order.append(entry)
        if order.count > Self.maximum, let oldest = order.popFirst() { known.remove(oldest) }
        return true
    }
}
