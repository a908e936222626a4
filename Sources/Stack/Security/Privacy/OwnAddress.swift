import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// The kind of address that a device uses on the air.
package enum OwnAddressPolicy: Hashable, Sendable {
    /// The controller's public address, or a static random one if it has none.
    case publicDevice
    /// A static random address, drawn each time the system is created (Core Vol 6 Part B 1.3.2.1).
    case staticRandom
    /// The given random address: a static one that persists across restarts.
    case fixed(BluetoothAddress)
    /// The identity address by which bonded devices know this one, unhidden; without bonds the same as
    /// ``staticRandom``.
    case identity
    /// Resolvable private addresses, which change and which only bonded devices recognise (behaviour 6.17). See
    /// ``DevicePrivacy``.
    case resolvablePrivate
}

/// An own address of this device on the air.
package struct OwnAddress: Hashable, Sendable {
    package var address: BluetoothAddress
    /// Whether the controller replaces it with a generated private address for peers on its resolving list.
    package var isMadeByController = false
    package var kind: OwnAddressKind {
        guard isMadeByController else { return address.kind.isRandom ? .randomDevice : .publicDevice }
        return address.kind.isRandom ? .resolvableOrRandom : .resolvableOrPublic
    }

    package init(_ address: BluetoothAddress) {
        self.address = address
    }

    /// Creates the address that `policy` prescribes for a device whose controller has the address `publicAddress`, if
    /// any.
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

    /// Returns a static random address: the two highest bits set, the others neither all set nor all clear (Core Vol 6
    /// Part B 1.3.2.1).
    static func staticRandom(_ random: RandomSource) -> BluetoothAddress {
        BluetoothAddress(0b11 << 46 | 1 + random.below(allRandomBitsSet - 1), kind: .randomDevice)
    }
}

extension LocalIdentity {
    package init(_ random: RandomSource) {
        let key = Key128(Block128(high: random.next(), low: random.next()))
        self.init(address: .staticRandom(random), key: key)
    }
}

/// The address that this device used on each link when the link was made.
struct LinkAddresses {
    private struct Entry {
        weak var connection: HCIConnection?
        var address: BluetoothAddress
    }

    private var entries: [ConnectionHandle: Entry] = [:]

    mutating func began(_ connection: HCIConnection, at address: BluetoothAddress) {
        entries[connection.handle] = Entry(connection: connection, address: address)
    }

    /// Records the address of the advertising set from which a link was made, unless the controller generated the
    /// address of the link.
    mutating func began(_ handle: ConnectionHandle, toSetAt address: BluetoothAddress) {
        guard let known = entries[handle]?.connection, known.localResolvableAddress == nil else { return }
        entries[handle]?.address = address
    }

    func address(of connection: HCIConnection) -> BluetoothAddress? {
        guard let known = entries[connection.handle], known.connection === connection else { return nil }
        return known.address
    }
}
