import BluetoothTypes
import Cryptography
import HCI

/// The resolving list: peers whose private addresses the controller recognises, and towards whom it makes its own (Core
/// Vol 6 Part B 6).
struct ResolvingList {
    /// Why a peer cannot be added (Core Vol 4 Part E 7.8.38).
    enum Refusal: Error, Hashable {
        /// There is no room.
        case full
        /// The identity or the key is there already.
        case known
    }

    private struct Entry {
        /// The identity, as public or random.
        let peer: BluetoothAddress
        /// The peer's identity resolving key, if it has one.
        let peerKey: Key128?
        /// The own one towards this peer, if there is one.
        let localKey: Key128?
        var mode = LEPrivacyMode.network
        /// The private address with which the peer was seen last.
        var seen: BluetoothAddress?
        /// The private address that was used towards the peer last.
        var used: BluetoothAddress?
        /// The own address towards the peer, for requests.
        var local: RotatingAddress?
    }

    /// Who sent something.
    enum Sender: Hashable {
        /// A peer of the list: its identity.
        case peer(BluetoothAddress)
        /// A peer of the list that should have hidden its identity (6.2 to 6.4).
        case exposed
        /// Somebody else.
        case stranger
    }

    /// Peers at most.
    let size: Int
    private var entries: [Entry] = []
    // By what they are looked for.
    private var places: [BluetoothAddress: Int] = [:]
    private var localKeys: [Key128] = []
    private var senders = AddressCache<Sender>()
    private var targets = AddressCache<Bool>()
    /// How many times a key has been tried on an address.
    private(set) var attempts = 0
    /// Addresses of which is remembered whose they are, others' and own ones.
    var remembered: (senders: Int, targets: Int) { (senders.count, targets.count) }

    init(size: UInt8) {
        self.size = Int(size)
    }

    // MARK: The list

    /// Adds a peer, in network privacy mode. A key of zeros is none.
    mutating func add(_ peer: BluetoothAddress, peerKey: Key128, localKey: Key128) throws(Refusal) {
        guard entries.count < size else { throw .full }
        let key = peerKey == .zero ? nil : peerKey
        let isKnown = entries.contains { $0.peer == peer.device || key != nil && $0.peerKey == key }
        guard !isKnown else { throw .known }
        entries.append(Entry(peer: peer.device, peerKey: key, localKey: localKey == .zero ? nil : localKey))
        rebuild()
    }

    /// Takes a peer off the list. False when it is not there.
    mutating func remove(_ peer: BluetoothAddress) -> Bool {
        guard let index = places[peer.device] else { return false }
        entries.remove(at: index)
        rebuild()
        return true
    }

    /// Empties the list.
    mutating func clear() {
        entries.removeAll()
        rebuild()
    }

    /// Says how strict to be with a peer. False when it is not there.
    mutating func set(_ mode: LEPrivacyMode, for peer: BluetoothAddress) -> Bool {
        guard let index = places[peer.device] else { return false }
        entries[index].mode = mode
        return true
    }

    private mutating func rebuild() {
        places = Dictionary(entries.enumerated().map { ($1.peer, $0) }) { first, _ in first }
        // Most hosts have one key towards all.
        localKeys = []
        for key in entries.compactMap(\.localKey) where !localKeys.contains(key) { localKeys.append(key) }
        senders.clear()
        targets.clear()
    }

    // MARK: Received addresses

    /// Who uses an address.
    mutating func sender(_ address: BluetoothAddress) -> Sender {
        guard !entries.isEmpty else { return .stranger }
        guard address.randomKind == .resolvable else {
            // AB-L11: who has a key and shows its identity all the same is not answered.
            guard let index = places[address.device], entries[index].peerKey != nil, entries[index].mode == .network
            else { return .stranger }
            return .exposed
        }
        let sender = senders.finding(for: address.value) ?? search(address)
        if case .peer(let peer) = sender, let index = places[peer] { entries[index].seen = address }
        return sender
    }

    private mutating func search(_ address: BluetoothAddress) -> Sender {
        var sender = Sender.stranger
        for entry in entries {
            guard let key = entry.peerKey else { continue }
            attempts &+= 1
            guard address.isMade(with: key) else { continue }
            sender = .peer(entry.peer)
            break
        }
        senders.remember(sender, for: address.value)
        return sender
    }

    /// Whether an address was made with one of the own keys, and so is an own one for somebody who knows that.
    mutating func isOwn(_ target: BluetoothAddress) -> Bool {
        guard !localKeys.isEmpty, target.randomKind == .resolvable else { return false }
        if let known = targets.finding(for: target.value) { return known }
        let isOwn = localKeys.contains { target.isMade(with: $0) }
        attempts &+= localKeys.count
        targets.remember(isOwn, for: target.value)
        return isOwn
    }

    // MARK: Own addresses

    /// The own key towards a peer, if there is one.
    func localKey(towards peer: BluetoothAddress) -> Key128? { places[peer.device].flatMap { entries[$0].localKey } }

    /// The key of a peer, if it has one.
    func key(of peer: BluetoothAddress) -> Key128? { places[peer.device].flatMap { entries[$0].peerKey } }

    /// The own private address for requests to a peer; nil without a key for it.
    mutating func localAddress(
        towards peer: BluetoothAddress,
        _ rules: RotatingAddress.Rules
    ) -> BluetoothAddress? {
        guard let index = places[peer.device], let key = entries[index].localKey else { return nil }
        var local = entries[index].local ?? RotatingAddress(key, rules)
        let address = local.current(rules)
        entries[index].local = local
        entries[index].used = address
        return address
    }

    /// A private address is used towards a peer.
    mutating func note(_ address: BluetoothAddress, towards peer: BluetoothAddress) {
        guard let index = places[peer.device] else { return }
        entries[index].used = address
    }

    /// The own private address that was used towards a peer last, if there was one.
    func usedAddress(towards peer: BluetoothAddress) -> BluetoothAddress? {
        places[peer.device].flatMap { entries[$0].used }
    }

    /// The private address with which a peer was seen last, if it was.
    func seenAddress(of peer: BluetoothAddress) -> BluetoothAddress? {
        places[peer.device].flatMap { entries[$0].seen }
    }
}
