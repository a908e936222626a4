import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP
import ServiceMessages

/// The state that this host keeps of a peer.
package struct Peer {
    /// The identifier that apps use. It reveals nothing about the address (behaviour 6.19).
    package let identifier: UUID
    /// The identity address if it is known, or else the address last received.
    var address: BluetoothAddress
    /// The name in the last advertisement that contained one.
    var advertisedName: String?
    /// The name in the peer's Generic Access service, once read.
    var deviceName: String?
    var advertisedNameTime: Instant?
    /// When the device name was read; nil if it is a stored one.
    var deviceNameTime: Instant?
    /// When an advertisement was last received, and its signal strength in dBm.
    package internal(set) var lastReception: (time: Instant, rssi: Int)?

    /// The device name once it is known, or else the advertised name (behaviour 2.23).
    package var name: String? { deviceName ?? advertisedName }

    var info: PeerInfo { PeerInfo(identifier: identifier, name: name) }
}

/// The peers known to this host, by identifier and by address.
///
/// Bounded (AB-G02): peers that are not held are dropped, those unseen for longest first. A peer is held while a
/// manager waits for a connection to it, and while there is a link.
struct PeerTable {
    /// The maximum number of known peers, besides those that are held.
    static let maximumPeers = 4_096

    private var peers = RecencyTable<UUID, Peer>(limit: maximumPeers)
    private var identifiers: [BluetoothAddress: UUID] = [:]
    /// The names of peers that are not bonded, including peers that are not in the table (behaviour 2.25).
    var names = NameRecord()
    private let secret: () -> Key128
    /// The mapping between addresses and identifiers.
    private lazy var identities = PeerNames(secret())

    /// - Parameter secret: Returns the host's secret, from which identifiers are derived. Called when the first
    ///   identifier is needed.
    init(secret: @escaping () -> Key128) {
        self.secret = secret
    }

    var count: Int { peers.count }

    subscript(_ identifier: UUID) -> Peer? { peers[identifier] }

    /// The identifier of the peer at `address`; nil if there is none in the table.
    func identifier(at address: BluetoothAddress) -> UUID? { identifiers[address.asDevice] }

    /// Returns the peer at `address`, adding it to the table if necessary.
    mutating func see(_ address: BluetoothAddress) -> Peer {
        let address = address.asDevice
        if let identifier = identifiers[address], let known = peers.use(identifier) { return known }
        return note(make(name(of: address), at: address))
    }

    /// Returns a peer, perhaps from before a restart; nil if this host did not assign the identifier (behaviour 11.3).
    mutating func recall(_ identifier: UUID) -> Peer? {
        if let known = peers[identifier] { return known }
        guard let address = identities.address(of: identifier)?.address, identifiers[address] == nil else { return nil }
        return note(make(identifier, at: address))
    }

    /// Creates the entry of a peer that is not in the table, with its stored name.
    private func make(_ identifier: UUID, at address: BluetoothAddress) -> Peer {
        var peer = Peer(identifier: identifier, address: address.asDevice)
        peer.deviceName = names.name(of: identifier)
        return peer
    }

    /// The first identifier of the address that is not kept by a bonded peer which had that address before.
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

    /// Updates and returns the bonded peer with `identifier`, whose identity address is now known. It keeps its
    /// identifier, whatever private address it uses (behaviour 6.18).
    mutating func see(_ identity: BluetoothAddress, as identifier: UUID) -> Peer {
        var peer = peers[identifier] ?? make(identifier, at: identity)
        let address = identity.asDevice
        if peer.address != address, identifiers[peer.address] == identifier { identifiers[peer.address] = nil }
        peer.address = address
        identifiers[peer.address] = identifier
        forget(peers.set(peer, for: identifier)?.value)
        return peer
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each change.
    private var brokenInvariant: String? {
        identifiers.count <= peers.count ? nil : "an address belongs to a peer that is not in the table"
    }

    /// All known peers, in no particular order.
    var all: [Peer] { peers.values }

    /// Notes an advertisement of the peer with `identifier`, and returns the peer. An advertisement without a name
    /// leaves the advertised name as it is.
    @discardableResult
    mutating func noteAdvertisement(_ identifier: UUID, name: String?, rssi: Int, at time: Instant) -> Peer? {
        var known: Peer?
        peers.update(identifier) { peer in
            if let name { (peer.advertisedName, peer.advertisedNameTime) = (name, time) }
            peer.lastReception = (time, rssi)
            known = peer
        }
        return known
    }

    mutating func setDeviceName(_ name: String, of identifier: UUID, at time: Instant? = nil) {
        peers.update(identifier) { ($0.deviceName, $0.deviceNameTime) = (name, time) }
    }

    /// Keeps a peer in the table until ``release(_:)`` has been called as often.
    mutating func hold(_ identifier: UUID) {
        guard peers[identifier] != nil else { return }
        peers.keep(identifier)
    }

    /// Undoes one call of ``hold(_:)``.
    mutating func release(_ identifier: UUID) {
        forget(peers.release(identifier)?.value)
    }

    private mutating func forget(_ peer: Peer?) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        guard let peer, identifiers[peer.address] == peer.identifier else { return }
        identifiers[peer.address] = nil
    }
}

extension BluetoothAddress {
    /// The address in the form that connections and advertisements share. A controller that has resolved a private
    /// address indicates that in the kind.
    fileprivate var asDevice: BluetoothAddress {
        BluetoothAddress(value, kind: kind.isRandom ? .randomDevice : .publicDevice)
    }
}
