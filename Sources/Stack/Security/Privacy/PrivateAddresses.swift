import BluetoothTypes
import Cryptography
import EventLoops

extension BluetoothAddress {
    private static let resolvableBits: UInt64 = 0b01 << 22
    private static let maximumRandomPart: UInt64 = (1 << 22) - 1

    /// Returns a resolvable private address for `key`: two fixed bits, a random part that is neither all ones nor all
    /// zeros, and their hash (Core Vol 6 Part B 1.3.2.2).
    static func resolvablePrivate(_ key: Key128, _ random: RandomSource) -> BluetoothAddress {
        let part = UInt32(truncatingIfNeeded: resolvableBits | 1 + random.below(maximumRandomPart - 1))
        let hash = Toolbox.ah(key, part)
        return BluetoothAddress(UInt64(part) << 24 | UInt64(hash), kind: .randomDevice)
    }
}

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
