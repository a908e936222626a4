import BluetoothTypes
import Cryptography
import DequeModule
import HCI

/// The resolving list: the peers whose private addresses the controller resolves, and towards which it generates its
/// own (Core Vol 6 Part B 6).
struct ResolvingList {
    /// The reasons for which a peer cannot be added (Core Vol 4 Part E 7.8.38).
    enum Refusal: Error, Hashable {
        /// The list is full.
        case full
        /// The identity address or the key is on the list already.
        case known
    }

    private struct Entry {
        /// The identity address, as public or random.
        let peer: BluetoothAddress
        /// The peer's identity resolving key, if it has one.
        let peerKey: Key128?
        /// The own identity resolving key towards this peer, if there is one.
        let localKey: Key128?
        var mode = LEPrivacyMode.network
        /// The last private address received from the peer.
        var seen: BluetoothAddress?
        /// The last private address used towards the peer.
        var used: BluetoothAddress?
        /// The own private address for requests to the peer.
        var local: RotatingAddress?
    }

    /// The sender of a PDU.
    enum Sender: Hashable {
        /// A peer on the list, with its identity address.
        case peer(BluetoothAddress)
        /// A peer on the list that should have hidden its identity (6.2 to 6.4).
        case exposed
        /// A device that is not on the list.
        case stranger
    }

    /// The capacity in peers.
    let size: Int
    private var entries: [Entry] = []
    // The indices of the entries, by identity address.
    private var places: [BluetoothAddress: Int] = [:]
    private var localKeys: [Key128] = []
    private var senders = AddressCache<Sender>()
    private var targets = AddressCache<Bool>()
    /// How often a key has been tried on an address.
    private(set) var attempts = 0
    /// The number of cached addresses of peers and of this device.
    var remembered: (senders: Int, targets: Int) { (senders.count, targets.count) }

    init(size: UInt8) {
        self.size = Int(size)
    }

    // MARK: The list

    /// Adds a peer in network privacy mode. A key of zero counts as none.
    mutating func add(_ peer: BluetoothAddress, peerKey: Key128, localKey: Key128) throws(Refusal) {
        guard entries.count < size else { throw .full }
        let key = peerKey == .zero ? nil : peerKey
        let isKnown = entries.contains { $0.peer == peer.device || key != nil && $0.peerKey == key }
        guard !isKnown else { throw .known }
        entries.append(Entry(peer: peer.device, peerKey: key, localKey: localKey == .zero ? nil : localKey))
        rebuild()
    }

    /// Removes a peer. Returns false if it is not on the list.
    mutating func remove(_ peer: BluetoothAddress) -> Bool {
        guard let index = places[peer.device] else { return false }
        entries.remove(at: index)
        rebuild()
        return true
    }

    /// Removes all peers (Core Vol 4 Part E 7.8.40).
    mutating func clear() {
        entries.removeAll()
        rebuild()
    }

    /// Sets the privacy mode of a peer. Returns false if it is not on the list.
    mutating func set(_ mode: LEPrivacyMode, for peer: BluetoothAddress) -> Bool {
        guard let index = places[peer.device] else { return false }
        entries[index].mode = mode
        return true
    }

    private mutating func rebuild() {
        places = Dictionary(entries.enumerated().map { ($1.peer, $0) }) { first, _ in first }
        // Most hosts use the same key towards all peers.
        localKeys = []
        for key in entries.compactMap(\.localKey) where !localKeys.contains(key) { localKeys.append(key) }
        senders.clear()
        targets.clear()
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each change of the list.
    private var brokenInvariant: String? {
        guard entries.count <= size else { return "the list holds more peers than it can" }
        return places.count == entries.count ? nil : "two entries have one identity"
    }

    // MARK: Received addresses

    /// Returns the sender that uses an address.
    mutating func sender(_ address: BluetoothAddress) -> Sender {
        guard !entries.isEmpty else { return .stranger }
        guard address.randomKind == .resolvable else { return isExposed(address) ? .exposed : .stranger }
        let sender = senders.finding(for: address.value) ?? search(address)
        if case .peer(let peer) = sender, let index = places[peer] { entries[index].seen = address }
        return sender
    }

    /// Whether an address is the identity address of a peer that should have hidden it: one with a key, in network
    /// privacy mode (AB-L11).
    func isExposed(_ address: BluetoothAddress) -> Bool {
        guard let index = places[address.device] else { return false }
        return entries[index].peerKey != nil && entries[index].mode == .network
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

    /// Whether an address was generated with one of this device's own keys.
    mutating func isOwn(_ target: BluetoothAddress) -> Bool {
        guard !localKeys.isEmpty, target.randomKind == .resolvable else { return false }
        if let known = targets.finding(for: target.value) { return known }
        let isOwn = localKeys.contains { target.isMade(with: $0) }
        attempts &+= localKeys.count
        targets.remember(isOwn, for: target.value)
        return isOwn
    }

    // MARK: Own addresses

    /// Returns the own key towards a peer, if there is one.
    func localKey(towards peer: BluetoothAddress) -> Key128? { places[peer.device].flatMap { entries[$0].localKey } }

    /// Returns the key of a peer, if it has one.
    func key(of peer: BluetoothAddress) -> Key128? { places[peer.device].flatMap { entries[$0].peerKey } }

    /// Returns the own private address for requests to a peer; nil without a key for it.
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

    /// Records the private address used towards a peer.
    mutating func note(_ address: BluetoothAddress, towards peer: BluetoothAddress) {
        guard let index = places[peer.device] else { return }
        entries[index].used = address
    }

    /// Returns the last private address used towards a peer, if any.
    func usedAddress(towards peer: BluetoothAddress) -> BluetoothAddress? {
        places[peer.device].flatMap { entries[$0].used }
    }

    /// Returns the last private address received from a peer, if any.
    func seenAddress(of peer: BluetoothAddress) -> BluetoothAddress? {
        places[peer.device].flatMap { entries[$0].seen }
    }
}

/// A cache of resolution results, so that an advertiser costs AES operations once instead of with each PDU. When full,
/// it evicts the oldest entry.
struct AddressCache<Finding> {
    /// The capacity in addresses: more than the number of devices in a crowded place.
    static var maximum: Int { 2_048 }

    private var known: [UInt64: Finding] = [:]
    private var order = Deque<UInt64>()

    var count: Int { max(known.count, order.count) }

    func finding(for address: UInt64) -> Finding? { known[address] }

    mutating func remember(_ finding: Finding, for address: UInt64) {
        if known.updateValue(finding, forKey: address) == nil { order.append(address) }
        if order.count > Self.maximum, let oldest = order.popFirst() { known[oldest] = nil }
    }

    mutating func clear() {
        known.removeAll()
        order.removeAll()
    }
}
