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
