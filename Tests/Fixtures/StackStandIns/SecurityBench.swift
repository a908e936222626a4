import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP
import SMP
import Security

/// A host with one link, on a controller with arbitrary behaviour.
package struct SecurityBench {
    package let hci = HostBench([.encryption, .extendedAdvertising])
    package let deviceSecurity: DeviceSecurity
    package let link: SecureLink
    package let l2cap: L2CAPConnection
    package let storage = MemoryBondStorage()
    package let bonds: BondStore
    package let links: Links
    package static let handle = ConnectionHandle(rawValue: 0x40)
    package static let address = BluetoothAddress(0xC0FF_EE00_0002, kind: .publicDevice)

    package init(
        _ role: LERole,
        bond: Bond? = nil,
        from address: BluetoothAddress = Self.address,
        servers: ChannelServers = ChannelServers()
    ) throws {
        bonds = try BondStore(
            storage: storage,
            adapter: AdapterIdentity(address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)),
            random: RandomSource(seed: 1)
        )
        if let bond { try bonds.add(bond) }
        hci.up()
        let security = DeviceSecurity(
            loop: hci.loop,
            random: RandomSource(seed: 2),
            bonds: bonds,
            stackEvents: hci.stackEvents
        )
        security.begin(on: hci.host, nil)
        self.deviceSecurity = security
        let links = Links()
        let loop = hci.loop
        hci.host.onConnection = { connection in
            let l2capRole: L2CAPRole = role == .central ? .central : .peripheral
            let l2cap = L2CAPConnection(link: connection, role: l2capRole, loop: loop, servers: servers)
            let own = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)
            links.all.append(security.attach(connection, l2cap, ownAddress: own))
            links.channels.append(l2cap)
        }
        hci.inject(Self.connection(role, address))
        guard let link = links.all.first ?? nil, let l2cap = links.channels.first else { throw NoLink() }
        (self.link, self.l2cap) = (link, l2cap)
        self.links = links
    }

    /// The controller's link was not accepted.
    package struct NoLink: Error {}

    /// All links so far; nil for those that were refused.
    package final class Links {
        package var all: [SecureLink?] = []
        fileprivate var channels: [L2CAPConnection] = []
        fileprivate var owners: [StandInOwner] = []
    }

    /// Becomes the owner of a link, for as long as the bench exists.
    package func owner(of link: SecureLink) -> StandInOwner {
        let owner = StandInOwner(of: link)
        links.owners.append(owner)
        return owner
    }

    /// Makes another link, as peripheral.
    package func connect(_ address: BluetoothAddress, _ handle: UInt16) -> SecureLink? {
        hci.inject(Self.connection(.peripheral, address, ConnectionHandle(rawValue: handle)))
        return links.all.last ?? nil
    }

    package static func connection(
        _ role: LERole,
        _ address: BluetoothAddress,
        _ handle: ConnectionHandle = handle
    ) -> LEEnhancedConnectionComplete {
        LEEnhancedConnectionComplete {
            $0.handle = handle
            $0.role = role
            $0.peerAddress = address
            $0.interval = 24
            $0.latency = 0
            $0.supervisionTimeout = 72
            $0.centralClockAccuracy = LEClockAccuracy(rawValue: 0)
        }
    }

    package func change(_ state: UInt8, _ status: HCIStatus = .success, _ handle: ConnectionHandle = handle) {
        hci.inject(EncryptionChange(status: status, handle: handle, state: EncryptionState(rawValue: state)))
    }

    /// Delivers a fragment of a PDU of the hci.
    package func receive(_ fragment: some Sequence<UInt8>, isStart: Bool) {
        let payload = PacketBuffer(Array(fragment))
        let boundary: ACLPacket.Boundary = isStart ? .start : .continuation
        hci.transport.onReceive?(HCIPacket(ACLPacket(handle: Self.handle, boundary: boundary, payload: payload)))
        hci.run(.milliseconds(1))
    }

    package var disconnects: [Disconnect] { hci.transport.commands.compactMap { $0 as? Disconnect } }
    package var protection: LinkSecurity { l2cap.linkSecurity }

    package static let key = Key128(Block128(high: 1, low: 2))

    package static func bond(
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
