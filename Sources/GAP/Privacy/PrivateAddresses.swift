import BluetoothTypes
import Cryptography
import EventLoops

extension BluetoothAddress {
    private static let resolvableBits: UInt64 = 0b01 << 22
    private static let maximumRandomPart: UInt64 = (1 << 22) - 1

    /// A private address that those can resolve who have `key`: two bits that say so, a random part of neither all bits set
    /// nor all clear, and its hash (Core Vol 6 Part B 1.3.2.2).
    static func resolvablePrivate(_ key: Key128, _ random: RandomSource) -> BluetoothAddress {
        let part = UInt32(truncatingIfNeeded: resolvableBits | 1 + random.below(maximumRandomPart - 1))
        let hash = Toolbox.ah(key, part)
        return BluetoothAddress(UInt64(part) << 24 | UInt64(hash), kind: .randomDevice)
    }

    /// Whether this is a resolvable private address made with `key` (Core Vol 6 Part B 1.3.2.3).
    func isResolved(by key: Key128) -> Bool {
        guard randomKind == .resolvable else { return false }
        let part = UInt32(truncatingIfNeeded: value >> 24)
        return UInt64(Toolbox.ah(key, part)) == value & 0xFF_FFFF
    }

    /// The address as commands, advertisements and bonds all name it: a controller that has resolved a private address says
    /// so in the kind.
    public var plain: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }

    /// Whether a device can have this as its identity: it is public, or static (Core Vol 3 Part C 10.8).
    var canBeIdentity: Bool {
        randomKind.map { $0 == .static } ?? true
    }
}
