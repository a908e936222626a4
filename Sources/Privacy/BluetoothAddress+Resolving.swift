import BluetoothTypes
import Cryptography

extension BluetoothAddress {
    /// The address as commands, advertisements and bonds name it: without the identity kinds by which a controller
    /// marks an address it has resolved.
    package var plain: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }

    /// Whether this is a resolvable private address made with `key` (Core Vol 6 Part B 1.3.2.3).
    package func isResolved(by key: Key128) -> Bool {
        guard randomKind == .resolvable else { return false }
        let part = UInt32(truncatingIfNeeded: value >> 24)
        return UInt64(Toolbox.ah(key, part)) == value & 0xFF_FFFF
    }

    /// Whether the address can be an identity address: public or static random (Core Vol 3 Part C 10.8).
    package var canStay: Bool { randomKind.map { $0 == .static } ?? true }
}
