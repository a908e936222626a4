import BluetoothTypes
import Cryptography
import EventLoops

/// Resolves private addresses with the identity resolving keys of the bonds (Core Vol 3 Part C 10.8.2.3), and remembers
/// where the peers were seen.
///
/// Each key costs an AES encryption, so results are cached, including negative ones, until the keys change. Resolution
/// authenticates nothing: an address can be copied (AB-G03).
struct AddressResolver {
    /// The capacity of the cache, in addresses.
    static let maximumRemembered = 4_096
    /// The number of bonded devices considered.
    static let maximumPeers = 1_024
    /// How long an address seen in advertising remains usable for connecting to the peer.
    static let recentTime = Duration.seconds(2)

    private var peers: [BluetoothAddress: PrivatePeer] = [:]
    /// The identity addresses of peers, by their pairing addresses.
    private var identities: [BluetoothAddress: BluetoothAddress] = [:]
    private var keys: [(key: Key128, identity: BluetoothAddress)] = []
    /// The cached identity of each address; nil for one that no key resolves.
    private var known = RecencyTable<BluetoothAddress, BluetoothAddress?>(limit: maximumRemembered)
    /// The address and time of the last advertisement from each peer.
    private var recent: [BluetoothAddress: (address: BluetoothAddress, time: Instant)] = [:]
    private(set) var attempts: UInt64 = 0

    var remembered: Int { known.count }

    /// Replaces the peers, and forgets what depends on keys that have changed. A change of `lastUse` alone leaves the
    /// keys as they were. Returns whether they have changed.
    @discardableResult
    mutating func replace(_ new: [PrivatePeer]) -> Bool {
        let old = keys
        (peers, identities, keys) = ([:], [:], [])
        for peer in new.prefix(Self.maximumPeers) where peers.updateValue(peer, forKey: peer.identity) == nil {
            if let key = peer.key { keys.append((key, peer.identity)) }
            if let address = peer.pairingAddress { identities[address] = peer.identity }
        }
        guard !old.elementsEqual(keys, by: { $0 == $1 }) else { return false }
        known.removeAll()
        recent = [:]
        return true
    }

    subscript(_ identity: BluetoothAddress) -> PrivatePeer? { peers[identity.plain] }

    /// Returns the peer with this address: its identity address, its pairing address, or a private address that its key
    /// resolves.
    mutating func peer(at address: BluetoothAddress) -> PrivatePeer? {
        let address = address.plain
        if let peer = peers[address] ?? identities[address].flatMap({ peers[$0] }) { return peer }
        guard !keys.isEmpty, address.randomKind == .resolvable else { return nil }
        let found = known[address] ?? search(address)
        // Also on a cache hit, which makes the entry the most recent.
        known.set(found, for: address)
        return found.flatMap { peers[$0] }
    }

    private mutating func search(_ address: BluetoothAddress) -> BluetoothAddress? {
        for (key, identity) in keys {
            attempts += 1
            if address.isResolved(by: key) { return identity }
        }
        return nil
    }

    mutating func noteAddress(_ identity: BluetoothAddress, at address: BluetoothAddress, _ now: Instant) {
        recent[identity] = (address, now)
    }

    /// Returns the address at which a peer was last seen, unless that is too long ago.
    func recentAddress(of identity: BluetoothAddress, _ now: Instant) -> BluetoothAddress? {
        guard let last = recent[identity], now - last.time <= Self.recentTime else { return nil }
        return last.address
    }

    /// Forgets where the peers were seen, because the controller is gone.
    mutating func forgetRecent() { recent = [:] }
}
