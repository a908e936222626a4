import BluetoothTypes
import Cryptography
import HCI
import LinkLayer
import SMP
import Testing

@testable import GAP
@testable import Security

/// Which side generates and resolves private addresses, and with which command set.
enum PrivacyMode: String, CaseIterable, CustomTestStringConvertible {
    case hostLegacy
    case hostExtended
    case controllerLegacy
    case controllerExtended

    var testDescription: String { rawValue }
    var commands: ControllerMode { self == .hostLegacy || self == .controllerLegacy ? .legacy : .extended }
    /// Whether the controllers have a resolving list.
    var isInController: Bool { self == .controllerLegacy || self == .controllerExtended }
    /// The modes with a resolving list in the controller.
    static let inController: [PrivacyMode] = [.controllerLegacy, .controllerExtended]
}

extension GAPWorld {
    /// Creates a device with private addresses and brings it up.
    func privateDevice(
        _ mode: PrivacyMode,
        interval: Duration = GAPTimer.privateAddressInterval,
        listSize: UInt8 = 32
    ) -> GAPDevice {
        device(.resolvablePrivate, interval: interval) { configuration in
            if !mode.isInController { configuration.features.remove(.privacy) }
            configuration.resolvingListSize = listSize
        }
    }
}

extension GAPDevice {
    /// The identity behind its private addresses.
    var identity: LocalIdentity {
        bonds?.identity ?? LocalIdentity(address: .none, key: .zero)
    }

    /// Whether an address is one of its private ones.
    func isOwn(_ address: BluetoothAddress) -> Bool { address.isResolved(by: identity.key) }

    /// Gives both devices the result of a pairing: the other one's key and identity.
    func bond(with other: GAPDevice) throws {
        try remember(other)
        try other.remember(self)
        world.run(.milliseconds(50))
    }

    /// Stores a bond with another device at the level of an unauthenticated pairing.
    func remember(_ other: GAPDevice) throws {
        // The same key on both sides.
        let key = Key128(Block128(high: 7, low: UInt64(1 << node.id.number | 1 << other.node.id.number)))
        try remember(other.identity, number: UInt64(other.node.id.number), key)
    }

    func remember(_ identity: LocalIdentity, number: UInt64, _ longTermKey: Key128) throws {
        let level = KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true)
        var keys = PeerKeys(level: level)
        let key = EncryptionKey(key: longTermKey, diversifier: 0, random: 0)
        (keys.localKey, keys.peerKey) = (key, key)
        (keys.identityKey, keys.identityAddress) = (identity.key, identity.address)
        let octets = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 1) }
        let identifier = try #require(BondIdentifier(octets))
        let bond = Bond(identifier: identifier, address: identity.address, keys: keys)
        _ = try #require(bonds).add(bond)
        access.deviceSecurity.bondChanged(identifier)
    }
}
