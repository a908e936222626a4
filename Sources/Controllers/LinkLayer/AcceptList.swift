import BluetoothTypes
import HCI

/// The filter accept list (Core Vol 6 Part B 4.3.1).
struct AcceptList {
    /// A command of the host (Core Vol 4 Part E 7.8.15 to 7.8.17).
    enum Change {
        case clear
        case add(BluetoothAddress)
        case remove(BluetoothAddress)
    }

    private struct Entry: Hashable {
        var value: UInt64
        var isRandom: Bool
        var isAnonymous: Bool
    }

    /// The capacity in devices.
    let size: Int
    private var entries: Set<Entry> = []

    init(size: UInt8) {
        self.size = Int(size)
    }

    /// Adds a device unless it is present already. Returns false if the list is full.
    mutating func add(_ address: BluetoothAddress) -> Bool {
        let entry = entry(address)
        guard entries.count < size || entries.contains(entry) else { return false }
        entries.insert(entry)
        return true
    }

    mutating func remove(_ address: BluetoothAddress) {
        entries.remove(entry(address))
    }

    mutating func apply(_ change: Change) -> HCIStatus {
        switch change {
        case .clear:
            clear()
        case .add(let address):
            guard Self.isKind(address.kind) else { return .invalidParameters }
            return add(address) ? .success : .memoryCapacityExceeded
        case .remove(let address):
            guard Self.isKind(address.kind) else { return .invalidParameters }
            remove(address)
        }
        return .success
    }

    private static func isKind(_ kind: BluetoothAddress.Kind) -> Bool { [0x00, 0x01, 0xFF].contains(kind.rawValue) }

    mutating func clear() {
        entries.removeAll()
    }

    func contains(_ address: BluetoothAddress) -> Bool {
        entries.contains(entry(address))
    }

    /// Address type 0xFF stands for advertisers without an address, whatever address accompanies it (Core Vol 4 Part E
    /// 7.8.16).
    private func entry(_ address: BluetoothAddress) -> Entry {
        if address.kind.rawValue == 0xFF { return Entry(value: 0, isRandom: false, isAnonymous: true) }
        return Entry(value: address.value, isRandom: address.kind.isRandom, isAnonymous: false)
    }
}
