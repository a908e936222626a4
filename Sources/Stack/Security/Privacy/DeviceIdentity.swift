import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// The identity of a device across controllers: its address, and the identity behind its private addresses. The device
/// keeps it when it moves to another controller.
package final class DeviceIdentity {
    private let policy: OwnAddressPolicy
    private let random: RandomSource
    /// The identity while no bond store supplies one.
    private var stranger: LocalIdentity?
    private var drawn: OwnAddress?

    /// Creates an identity that is drawn at random when first needed.
    package init(_ policy: OwnAddressPolicy, random: RandomSource) {
        self.policy = policy
        self.random = random
    }

    /// The address drawn for a device without private addresses. Nil before its first use.
    package var knownAddress: BluetoothAddress? { drawn?.address }

    /// Returns the identity behind the device's private addresses; nil for a device without private addresses.
    ///
    /// Without bonds it returns a random identity that no peer can resolve.
    package func hidden(_ bonds: BondStore?) -> LocalIdentity? {
        guard policy == .resolvablePrivate else { return nil }
        if let known = bonds?.identity { return known }
        let made = stranger ?? LocalIdentity(random)
        stranger = made
        return made
    }

    /// Returns the address of a device without private addresses on a controller. Stable across calls.
    package func address(on controller: ControllerInformation, _ bonds: BondStore?) -> OwnAddress {
        if policy == .identity, let known = bonds?.identity { return OwnAddress(known.address) }
        if policy == .publicDevice, let address = controller.publicAddress { return OwnAddress(address) }
        let address = drawn ?? OwnAddress(policy, publicAddress: nil, random: random)
        drawn = address
        return address
    }
}

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
