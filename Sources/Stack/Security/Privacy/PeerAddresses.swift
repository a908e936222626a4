import BluetoothTypes
import EventLoops

/// The addresses of bonded peers, as far as a device knows them.
struct PeerAddresses {
    /// How long an address seen in advertising remains usable for connecting to the peer.
    static let recentTime = Duration.seconds(2)

    private var resolver = AddressResolver()
    /// The peers that have declared support for address resolution since the device was last powered on.
    private var resolving: Set<BluetoothAddress> = []
    /// The peers that directed advertising addresses by their identity addresses.
    private var plainTargets: Set<BluetoothAddress> = []
    /// The address and time of the last advertisement from each peer.
    private var recent: [BluetoothAddress: (address: BluetoothAddress, time: Instant)] = [:]
    /// The last address of each peer on a link that was not its identity address, if the host resolved it.
    private var last: [BluetoothAddress: BluetoothAddress] = [:]
    /// The last address of each peer on a link that was fixed.
    private var fixed: [BluetoothAddress: BluetoothAddress] = [:]

    /// The number of keys tried on addresses so far.
    var attempts: UInt64 { resolver.attempts }

    /// Replaces the peers, and forgets what depends on keys that have changed. A change of `lastUse` alone leaves the
    /// keys as they were.
    mutating func replace(_ peers: [PrivatePeer]) {
        guard resolver.replace(peers) else { return }
        (recent, last, fixed) = ([:], [:], [:])
        resolving.formIntersection(peers.map(\.identity))
    }

    /// Forgets what depends on the controller, which is gone.
    mutating func reset() {
        plainTargets = []
        recent = [:]
    }

    /// The peer with this identity address.
    subscript(_ identity: BluetoothAddress) -> PrivatePeer? { resolver[identity] }

    /// Returns the peer with this address: its identity address, its pairing address, or a private address that its key
    /// resolves.
    mutating func peer(at address: BluetoothAddress) -> PrivatePeer? { resolver.peer(at: address) }

    /// Records whether a peer resolves private addresses.
    mutating func setResolves(_ resolves: Bool, of identity: BluetoothAddress) {
        guard let peer = resolver[identity] else { return }
        if resolves { resolving.insert(peer.identity) } else { resolving.remove(peer.identity) }
    }

    /// Whether a peer is known to resolve private addresses.
    func resolves(_ peer: PrivatePeer) -> Bool { resolving.contains(peer.identity) }

    /// Records the targets of directed advertising. Returns whether that changes ``listable(of:)``.
    mutating func setTargets(_ targets: [BluetoothAddress]) -> Bool {
        let bonded = targets.compactMap { resolver.peer(at: $0) }
        let new = Set(bonded.filter { $0.key != nil && !resolves($0) }.map(\.identity))
        defer { plainTargets = new }
        return new != plainTargets
    }

    /// Returns those of `peers` that may be on the controller's resolving list.
    func listable(of peers: [PrivatePeer]) -> [PrivatePeer] { peers.filter { !plainTargets.contains($0.identity) } }

    /// Records the address of an advertisement from a peer.
    mutating func heard(_ identity: BluetoothAddress, at address: BluetoothAddress, _ now: Instant) {
        recent[identity] = (address, now)
    }

    /// Returns the address at which a peer was last seen, unless that is too long ago.
    func recentAddress(of identity: BluetoothAddress, _ now: Instant) -> BluetoothAddress? {
        guard let last = recent[identity], now - last.time <= Self.recentTime else { return nil }
        return last.address
    }

    /// Records the address of the peer of a new link.
    mutating func connected(at address: BluetoothAddress) {
        guard let peer = resolver.peer(at: address) else { return }
        if address.canStay { fixed[peer.identity] = address }
        if peer.identity != address { last[peer.identity] = address }
    }

    /// The fixed address that a peer used last, as far as known: on its last link, or else for its pairing.
    func fixedAddress(of peer: PrivatePeer) -> BluetoothAddress {
        fixed[peer.identity] ?? peer.pairingAddress ?? peer.identity
    }

    /// The last address of a peer on a link that was not its identity address, if the host resolved it.
    func lastAddress(of identity: BluetoothAddress) -> BluetoothAddress? { last[identity] }
}
