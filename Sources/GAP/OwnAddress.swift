import BluetoothTypes
import EventLoops
import HCI

/// Which address a device shows on the air.
///
/// Private addresses that others can resolve belong here too, once there are keys for peers to resolve them with (behaviour
/// 6.17).
public enum OwnAddressPolicy: Hashable, Sendable {
    /// The controller's public address; a static random one if it has none.
    case publicDevice
    /// A static random address, drawn anew each time the system is made (Core Vol 6 Part B 1.3.2.1).
    case staticRandom
}

/// The address of this device on the air.
public struct OwnAddress: Hashable, Sendable {
    /// The address.
    public var address: BluetoothAddress
    /// What commands call it.
    public var kind: OwnAddressKind { address.kind.isRandom ? .randomDevice : .publicDevice }

    /// This address.
    public init(_ address: BluetoothAddress) {
        self.address = address
    }

    /// The address that `policy` gives to a device whose controller has the address `publicAddress`, if any.
    public init(_ policy: OwnAddressPolicy, publicAddress: BluetoothAddress?, random: RandomSource) {
        if policy == .publicDevice, let publicAddress {
            address = publicAddress
        } else {
            address = BluetoothAddress.staticRandom(random)
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
    static func nonResolvablePrivate(_ random: RandomSource) -> BluetoothAddress {
        BluetoothAddress(1 + random.below(allRandomBitsSet - 1), kind: .randomDevice)
    }
}
