import BluetoothTypes
import DequeModule
import HCI

/// Recognises duplicate reports (Core Vol 6 Part B 4.3.3; Vol 4 Part E 7.8.11, 7.8.65): those of the same device with
/// the same kind of PDU, and the same ADI if there is one. When full, it evicts the oldest entry, which will be
/// reported again.
struct DuplicateFilter {
    /// The capacity in advertisements.
    static let maximum = 512

    private struct Entry: Hashable {
        var address: BluetoothAddress
        var kind: UInt16
        var info: AdvertisingDataInfo?
    }

    private var known: Set<Entry> = []
    private var order = Deque<Entry>()

    /// Records a legacy report. Returns whether it is new.
    mutating func isNew(_ address: BluetoothAddress, _ kind: LEAdvertisingReportKind) -> Bool {
        isNew(Entry(address: address, kind: UInt16(kind.rawValue), info: nil))
    }

    /// Records an extended report. Returns whether it is new.
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
