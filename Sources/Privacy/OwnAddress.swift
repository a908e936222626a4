import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import SMP

/// Which address a device shows on the air.
package enum OwnAddressPolicy: Hashable, Sendable {
    /// The controller's public address; a static random one if it has none.
    case publicDevice
    /// A static random address, drawn anew each time the system is made (Core Vol 6 Part B 1.3.2.1).
    case staticRandom
    /// This random address, always: a static one that is kept from one start to the next.
    case fixed(BluetoothAddress)
    /// The address of which bonded devices know this one, without hiding it; without bonds as ``staticRandom``.
    case identity
    /// Addresses that change, and that none but bonded devices recognise (behaviour 6.17). See ``DevicePrivacy``.
    case resolvablePrivate
}

/// The address of this device on the air.
package struct OwnAddress: Hashable, Sendable {
    package var address: BluetoothAddress
    /// Whether the controller makes a private address in its place for those on its resolving list.
    package var isMadeByController = false
    /// What commands call it.
    package var kind: OwnAddressKind {
        guard isMadeByController else { return address.kind.isRandom ? .randomDevice : .publicDevice }
        return address.kind.isRandom ? .resolvableOrRandom : .resolvableOrPublic
    }

    /// This address.
    package init(_ address: BluetoothAddress) {
        self.address = address
    }

    /// The address that `policy` gives to a device whose controller has the address `publicAddress`, if any.
    package init(_ policy: OwnAddressPolicy, publicAddress: BluetoothAddress?, random: RandomSource) {
        switch policy {
        case .publicDevice: address = publicAddress ?? .staticRandom(random)
        case .fixed(let fixed): address = fixed
        case .staticRandom, .identity, .resolvablePrivate: address = .staticRandom(random)
        }
    }
}

extension BluetoothAddress {
    private static let allRandomBitsSet: UInt64 = (1 << 46) - 1

    /// A static random address: two bits set, and of the others neither all set nor all clear (Core Vol 6 Part B 1.3.2.1).
    static func staticRandom(_ random: RandomSource) -> BluetoothAddress {
        BluetoothAddress(0b11 << 46 | 1 + random.below(allRandomBitsSet - 1), kind: .randomDevice)
    }

    /// A private address that nobody can resolve: two bits clear, and of the others neither all set nor all clear (Core Vol 6
    /// Part B 1.3.2.2).
    package static func nonResolvablePrivate(_ random: RandomSource) -> BluetoothAddress {
        BluetoothAddress(1 + random.below(allRandomBitsSet - 1), kind: .randomDevice)
    }
}

extension LocalIdentity {
    /// An identity that nobody knows yet.
    package init(_ random: RandomSource) {
        let key = Key128(Block128(high: random.next(), low: random.next()))
        self.init(address: .staticRandom(random), key: key)
    }
}
