import BluetoothTypes
import Cryptography

/// Finds out whose private address one is, with the keys of the bonds (Core Vol 3 Part C 10.8.2.3).
///
/// To try a key costs an encryption, so an address is tried once: what came of it is remembered for the addresses heard last,
/// strangers' as well, until the keys change. What it says proves nothing: an address can be copied (AB-G03).
struct AddressResolver {
    /// Addresses of which is remembered whose they are.
    static let maximumRemembered = 4_096
    /// Bonded devices that are looked through.
    static let maximumPeers = 1_024

    private var peers: [BluetoothAddress: PrivatePeer] = [:]
    private var keys: [(key: Key128, identity: BluetoothAddress)] = []
    /// The identities behind addresses; nil for a stranger's.
    private var known = RecencyTable<BluetoothAddress, BluetoothAddress?>(limit: maximumRemembered)
    /// Keys that were tried so far.
    private(set) var attempts: UInt64 = 0

    /// Addresses of which is remembered whose they are.
    var remembered: Int { known.count }

    /// Knows these peers from now on. When their keys are others nothing of before is remembered.
    ///
    /// - Returns: Whether they are.
    @discardableResult
    mutating func replace(_ new: [PrivatePeer]) -> Bool {
        let old = keys
        peers = [:]
        keys = []
        for peer in new.prefix(Self.maximumPeers) where peers.updateValue(peer, forKey: peer.identity) == nil {
            if let key = peer.key { keys.append((key, peer.identity)) }
        }
        guard !old.elementsEqual(keys, by: { $0 == $1 }) else { return false }
        known.removeAll()
        return true
    }

    /// The peer with this identity.
    subscript(_ identity: BluetoothAddress) -> PrivatePeer? { peers[identity.plain] }

    /// The peer whose address this is: its identity address, or one that its key resolves.
    mutating func peer(at address: BluetoothAddress) -> PrivatePeer? {
        let address = address.plain
        if let peer = peers[address] { return peer }
        guard !keys.isEmpty, address.randomKind == .resolvable else { return nil }
        let found: BluetoothAddress?
        if let remembered = known[address] {
            found = remembered
        } else {
            found = search(address)
        }
        // Also when it was known: those heard last stay.
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
}
