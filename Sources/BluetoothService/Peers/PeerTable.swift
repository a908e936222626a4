import BluetoothTypes
import EventLoops
import Foundation
import GAP

/// What this host knows of a peer.
struct Peer {
    /// How apps name it. Given at first sight, and drawn by lot: it says nothing about the address (behaviour 6.19).
    let identifier: UUID
    let address: BluetoothAddress
    /// The name in its last advertisement that had one.
    var advertisedName: String?
    /// The name in its Generic Access service, once read.
    var deviceName: String?

    /// The device name once it is known wins over what is advertised (behaviour 2.23).
    var name: String? { deviceName ?? advertisedName }

    var info: PeerInfo { PeerInfo(identifier: identifier, name: name) }
}

/// The peers that this host knows, by identifier and by address.
///
/// Bounded (AB-G02): peers that nobody holds on to are forgotten, those unseen for longest first. A peer is held while a
/// manager wants to be connected to it and while there is a link.
struct PeerTable {
    /// Peers known at most, besides those that are held.
    static let maximumPeers = 4_096

    private var peers = RecencyTable<UUID, Peer>(limit: maximumPeers)
    private var identifiers: [BluetoothAddress: UUID] = [:]
    private let random: RandomSource

    init(random: RandomSource) {
        self.random = random
    }

    var count: Int { peers.count }

    subscript(_ identifier: UUID) -> Peer? { peers[identifier] }

    /// The peer at `address`, known from now on.
    mutating func see(_ address: BluetoothAddress) -> Peer {
        let known = identifiers[address.identity].flatMap { peers[$0] }
        let peer = known ?? Peer(identifier: UUID(random: random), address: address.identity)
        identifiers[peer.address] = peer.identifier
        forget(peers.set(peer, for: peer.identifier)?.value)
        return peer
    }

    /// Remembers the name in an advertisement.
    mutating func setAdvertisedName(_ name: String?, of identifier: UUID) {
        guard let name else { return }
        peers.update(identifier) { $0.advertisedName = name }
    }

    /// Remembers the device name.
    mutating func setDeviceName(_ name: String, of identifier: UUID) {
        peers.update(identifier) { $0.deviceName = name }
    }

    /// Keeps a peer until as many ``release(_:)`` have come.
    mutating func hold(_ identifier: UUID) {
        guard peers[identifier] != nil else { return }
        peers.keep(identifier)
    }

    /// Takes one ``hold(_:)`` back.
    mutating func release(_ identifier: UUID) {
        forget(peers.release(identifier)?.value)
    }

    private mutating func forget(_ peer: Peer?) {
        guard let peer else { return }
        identifiers[peer.address] = nil
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
