import BluetoothTypes
import EventLoops
import Foundation

/// What this host knows of a peer.
struct Peer {
    /// How apps name it. Given at first sight, and drawn by lot: it says nothing about the address (behaviour 6.19).
    let identifier: UUID
    let address: BluetoothAddress
    /// The name in its last advertisement that had one.
    var advertisedName: String?
    /// The name in its Generic Access service, once read.
    var deviceName: String?
    fileprivate var lastSeen: UInt64 = 0
    fileprivate var holders = 0

    /// The device name once it is known wins over what is advertised (behaviour 2.23).
    var name: String? { deviceName ?? advertisedName }

    var info: PeerInfo { PeerInfo(identifier: identifier, name: name) }
}

/// The peers that this host knows, by identifier and by address.
///
/// Bounded (AB-G02): peers that nobody holds on to are forgotten, those unseen for longest first. A peer is held while a
/// manager wants to be connected to it and while there is a link.
struct PeerTable {
    /// Peers known at most, unless more are held.
    static let maximumPeers = 4_096

    private var peers: [UUID: Peer] = [:]
    private var identifiers: [BluetoothAddress: UUID] = [:]
    private var sightings: UInt64 = 0
    private let random: RandomSource

    init(random: RandomSource) {
        self.random = random
    }

    var count: Int { peers.count }

    subscript(_ identifier: UUID) -> Peer? { peers[identifier] }

    /// The peer at `address`, known from now on.
    mutating func see(_ address: BluetoothAddress) -> Peer {
        sightings &+= 1
        let identifier = identifiers[address.identity] ?? add(address.identity)
        peers[identifier]?.lastSeen = sightings
        return peers[identifier] ?? Peer(identifier: identifier, address: address.identity)
    }

    /// Remembers the name in an advertisement.
    mutating func setAdvertisedName(_ name: String?, of identifier: UUID) {
        guard let name else { return }
        peers[identifier]?.advertisedName = name
    }

    /// Remembers the device name.
    mutating func setDeviceName(_ name: String, of identifier: UUID) {
        peers[identifier]?.deviceName = name
    }

    /// Keeps a peer until as many ``release(_:)`` have come.
    mutating func hold(_ identifier: UUID) {
        peers[identifier]?.holders += 1
    }

    /// Takes one ``hold(_:)`` back.
    mutating func release(_ identifier: UUID) {
        guard let holders = peers[identifier]?.holders, holders > 0 else { return }
        peers[identifier]?.holders = holders - 1
    }

    private mutating func add(_ address: BluetoothAddress) -> UUID {
        makeRoom()
        let identifier = UUID(random: random)
        identifiers[address] = identifier
        peers[identifier] = Peer(identifier: identifier, address: address)
        return identifier
    }

    /// Drops a quarter of those nobody holds, so that the search for them is rare.
    private mutating func makeRoom() {
        guard peers.count >= Self.maximumPeers else { return }
        let free = peers.values.filter { $0.holders == 0 }.sorted { $0.lastSeen < $1.lastSeen }
        for peer in free.prefix(Self.maximumPeers / 4) {
            peers[peer.identifier] = nil
            identifiers[peer.address] = nil
        }
    }
}

extension BluetoothAddress {
    /// The address as connections and advertisements both name it: a controller that has resolved a private address says
    /// so in the kind.
    fileprivate var identity: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }
}

extension UUID {
    /// A UUID of version 4 (RFC 9562 5.4).
    init(random: RandomSource) {
        var b = random.bytes(16)
        b[6] = b[6] & 0x0F | 0x40
        b[8] = b[8] & 0x3F | 0x80
        self.init(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }
}
