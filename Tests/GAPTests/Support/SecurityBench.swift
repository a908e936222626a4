import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP
import SMP
import Testing

@testable import GAP
@testable import Security

/// A host with one link, on a controller that says whatever it likes.
struct SecurityBench {
    let peer = ScriptedPeer()
    let security: DeviceSecurity
    let link: SecureLink
    let l2cap: L2CAPConnection
    let storage = MemoryBondStorage()
    let bonds: BondStore
    let links: Links
    static let handle = ConnectionHandle(rawValue: 0x40)
    static let address = BluetoothAddress(0xC0FF_EE00_0002, kind: .publicDevice)

    init(_ role: LERole, bond: Bond? = nil, from address: BluetoothAddress = Self.address) throws {
        bonds = try BondStore(
            storage: storage,
            adapter: AdapterIdentity(address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)),
            random: RandomSource(seed: 1)
        )
        if let bond { try bonds.add(bond) }
        peer.features = [.encryption, .extendedAdvertising]
        peer.up()
        let security = DeviceSecurity(
            loop: peer.loop,
            random: RandomSource(seed: 2),
            bonds: bonds,
            happenings: peer.happenings
        )
        security.begin(on: peer.host, nil)
        self.security = security
        let links = Links()
        let loop = peer.loop
        peer.host.onConnection = { connection in
            let l2capRole: L2CAPConnection.Role = role == .central ? .central : .peripheral
            let l2cap = L2CAPConnection(link: connection, role: l2capRole, loop: loop)
            let own = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)
            links.all.append(security.attach(connection, l2cap, ownAddress: own))
            links.channels.append(l2cap)
        }
        peer.inject(Self.connection(role, address))
        link = try #require(links.all.first ?? nil)
        l2cap = try #require(links.channels.first)
        self.links = links
    }

    /// All links that were made, nil for those that were refused.
    final class Links {
        var all: [SecureLink?] = []
        var channels: [L2CAPConnection] = []
    }

    /// Another link, as peripheral.
    func connect(_ address: BluetoothAddress, _ handle: UInt16) -> SecureLink? {
        peer.inject(Self.connection(.peripheral, address, ConnectionHandle(rawValue: handle)))
        return links.all.last ?? nil
    }

    static func connection(
        _ role: LERole,
        _ address: BluetoothAddress,
        _ handle: ConnectionHandle = handle
    ) -> LEEnhancedConnectionComplete {
        LEEnhancedConnectionComplete(
            handle: handle,
            role: role,
            peerAddress: address,
            interval: 24,
            latency: 0,
            supervisionTimeout: 72,
            centralClockAccuracy: LEClockAccuracy(rawValue: 0)
        )
    }

    func change(_ state: UInt8, _ status: HCIStatus = .success, _ handle: ConnectionHandle = handle) {
        peer.inject(EncryptionChange(status: status, handle: handle, state: EncryptionState(rawValue: state)))
    }

    var disconnects: [Disconnect] { peer.commands.compactMap { $0 as? Disconnect } }
    var protection: LinkSecurity { l2cap.protection }

    static let key = Key128(Block128(high: 1, low: 2))

    static func bond(
        _ address: BluetoothAddress = address,
        authenticated: Bool = true,
        secureConnections: Bool = true,
        keySize: Int = 16
    ) -> Bond {
        let level = KeyLevel(keySize: keySize, isAuthenticated: authenticated, isSecureConnections: secureConnections)
        var keys = PeerKeys(level: level)
        keys.localKey = EncryptionKey(key: key)
        keys.peerKey = EncryptionKey(key: key)
        return Bond(identifier: BondIdentifier(high: 7, low: 7), address: address, keys: keys)
    }
}
