import BluetoothTypes
import EventLoops

/// The addresses of bonded peers, as far as a device knows them.
struct PeerAddresses {
    /// How long an address seen in advertising remains usable for connecting to the peer.
    static let recentTime = Duration.seconds(2)

    private var resolver = AddressResolver()
    /// The address and time of the last advertisement from each peer.
    private var recent: [BluetoothAddress: (address: BluetoothAddress, time: Instant)] = [:]

    /// The number of keys tried on addresses so far.
    var attempts: UInt64 { resolver.attempts }

    /// Replaces the peers, and forgets what depends on keys that have changed. A change of `lastUse` alone leaves the
    /// keys as they were.
    mutating func replace(_ peers: [PrivatePeer]) {
        guard resolver.replace(peers) else { return }
        recent = [:]
    }

    /// Forgets what depends on the controller, which is gone.
    mutating func reset() {
        recent = [:]
    }

    /// The peer with this identity address.
    subscript(_ identity: BluetoothAddress) -> PrivatePeer? { resolver[identity] }

    /// Returns the peer with this address: its identity address, its pairing address, or a private address that its key
    /// resolves.
    mutating func peer(at address: BluetoothAddress) -> PrivatePeer? { resolver.peer(at: address) }

    /// Records the address of an advertisement from a peer.
    mutating func noteAddress(_ identity: BluetoothAddress, at address: BluetoothAddress, _ now: Instant) {
        recent[identity] = (address, now)
    }

    /// Returns the address at which a peer was last seen, unless that is too long ago.
    func recentAddress(of identity: BluetoothAddress, _ now: Instant) -> BluetoothAddress? {
        guard let last = recent[identity], now - last.time <= Self.recentTime else { return nil }
        return last.address
    }
}
