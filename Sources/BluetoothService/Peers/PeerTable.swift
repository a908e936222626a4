import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP

/// What this host knows of a peer.
struct Peer {
    /// How apps name it. It says nothing about the address (behaviour 6.19).
    let identifier: UUID
    /// Its identity address if that is known, else the one that it had when it was seen.
    var address: BluetoothAddress
    /// The name in its last advertisement that had one.
    var advertisedName: String?
    /// The name in its Generic Access service, once read.
    var deviceName: String?
    /// When the advertised name was last heard.
    var advertisedNameTime: Instant?
    /// When the device name was read; nil when it is from before.
    var deviceNameTime: Instant?
    /// When it was last heard advertising, and how strong that was in dBm.
    var lastHeard: (time: Instant, rssi: Int)?

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
    /// What peers that are not bonded call themselves, also those that are not known at this moment (behaviour 2.25).
    var names = NameRecord()
    private let secret: () -> Key128
    /// What peers are called.
    private lazy var identities = PeerNames(secret())

    /// - Parameter secret: Of this host, from which identifiers follow. Asked for when there is a first peer.
    init(secret: @escaping () -> Key128) {
        self.secret = secret
    }

    var count: Int { peers.count }

    subscript(_ identifier: UUID) -> Peer? { peers[identifier] }

    /// The peer at `address`, if it is known.
    func identifier(at address: BluetoothAddress) -> UUID? { identifiers[address.asDevice] }

    /// The peer at `address`, known from now on.
    mutating func see(_ address: BluetoothAddress) -> Peer {
        let known = identifiers[address.asDevice].flatMap { peers[$0] }
        return note(known ?? make(name(of: address.asDevice), at: address))
    }

    /// The peer that apps know by `identifier`, perhaps from before a restart; nil when this host never knew one
    /// (behaviour 11.3).
    mutating func recall(_ identifier: UUID) -> Peer? {
        if let known = peers[identifier] { return known }
        guard let address = identities.address(of: identifier)?.address, identifiers[address] == nil else { return nil }
        return note(make(identifier, at: address))
    }

    /// A peer that comes to be known, or is known once more.
    private func make(_ identifier: UUID, at address: BluetoothAddress) -> Peer {
        var peer = Peer(identifier: identifier, address: address.asDevice)
        peer.deviceName = names.name(of: identifier)
        return peer
    }

    /// The first name of the address, unless a bonded peer that has once had this address has taken it along.
    private mutating func name(of address: BluetoothAddress) -> UUID {
        let names = identities
        let all = (0..<PeerNames.perAddress).lazy.map { names.name(of: address, number: $0) }
        return all.first { peers[$0].map { $0.address == address } ?? true } ?? names.name(of: address)
    }

    private mutating func note(_ peer: Peer) -> Peer {
        identifiers[peer.address] = peer.identifier
        forget(peers.set(peer, for: peer.identifier)?.value)
        return peer
    }

    /// The bonded peer that apps know by `identifier`, and that is now known to have this identity address: whatever
    /// private address it shows, it stays who it is (behaviour 6.18).
    mutating func see(_ identity: BluetoothAddress, as identifier: UUID) -> Peer {
        var peer = peers[identifier] ?? make(identifier, at: identity)
        let address = identity.asDevice
        if peer.address != address, identifiers[peer.address] == identifier { identifiers[peer.address] = nil }
        peer.address = address
        identifiers[peer.address] = identifier
        forget(peers.set(peer, for: identifier)?.value)
        return peer
    }

    /// All that are known, in no particular order.
    var all: [Peer] { peers.values }

    /// Remembers that an advertisement was heard.
    mutating func heard(_ identifier: UUID, rssi: Int, at time: Instant) {
        peers.update(identifier) { $0.lastHeard = (time, rssi) }
    }

    /// Remembers the name in an advertisement.
    mutating func setAdvertisedName(_ name: String?, of identifier: UUID, at time: Instant? = nil) {
        guard let name else { return }
        peers.update(identifier) { ($0.advertisedName, $0.advertisedNameTime) = (name, time) }
    }

    /// Remembers the device name.
    mutating func setDeviceName(_ name: String, of identifier: UUID, at time: Instant? = nil) {
        peers.update(identifier) { ($0.deviceName, $0.deviceNameTime) = (name, time) }
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
        guard let peer, identifiers[peer.address] == peer.identifier else { return }
        identifiers[peer.address] = nil
    }
}

extension BluetoothAddress {
    /// The address as connections and advertisements both name it: a controller that has resolved a private address says
    /// so in the kind.
    fileprivate var asDevice: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }
}
