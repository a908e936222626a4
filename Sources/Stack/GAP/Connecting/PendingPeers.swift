import BluetoothTypes
import EventLoops

/// The peers with a pending connection, each of them once, with the way in which it is being reached.
///
/// ``ConnectorMachine`` and ``SeekMachine`` work on the same set: the first on the queue of addresses that the
/// controller is to connect to, the second on the peers for which the host has to scan.
struct PendingPeers {
    /// The way in which a peer is being reached.
    enum Route: Equatable {
        /// The controller looks for the address under which the peer is kept.
        case controller
        /// The host scans for the peer, whose private address the controller cannot resolve.
        case listening
        /// The host has received the peer, and the controller connects to it at this address.
        case trying(BluetoothAddress)
    }

    private struct Entry {
        let peer: BluetoothAddress
        var route = Route.controller
        /// The position in the controller's queue; nil for a peer outside of it.
        var rank: Int?
        var timer: ScheduledTask?

        /// The address for the controller; nil while the peer has none.
        var address: BluetoothAddress? {
            switch route {
            case .controller: peer
            case .listening: nil
            case .trying(let address): address
            }
        }
    }

    /// The maximum number of pending connections.
    static let maximum = 1_024

    private var entries: [Entry] = []
    private var firstRank = 0
    private var lastRank = 0

    /// The peers, in the order in which they were requested.
    var peers: [BluetoothAddress] { entries.map(\.peer) }

    var isEmpty: Bool { entries.isEmpty }

    func contains(_ peer: BluetoothAddress) -> Bool { index(of: peer) != nil }

    /// Adds a peer. Returns false if the set is full.
    mutating func add(_ peer: BluetoothAddress) -> Bool {
        guard index(of: peer) == nil else { return true }
        guard entries.count < Self.maximum else { return false }
        entries.append(Entry(peer: peer))
        return true
    }

    mutating func remove(_ peer: BluetoothAddress) { entries.removeAll { $0.peer == peer } }

    mutating func removeAll() { entries = [] }

    private func index(of peer: BluetoothAddress) -> Int? { entries.firstIndex { $0.peer == peer } }

    private func index(at address: BluetoothAddress) -> Int? { entries.firstIndex { $0.address == address } }
}

// MARK: - Routes

extension PendingPeers {
    var sought: [BluetoothAddress] { entries.filter { $0.route != .controller }.map(\.peer) }

    func isSought(_ peer: BluetoothAddress) -> Bool { route(of: peer).map { $0 != .controller } ?? false }

    /// Whether the host scans for any peer.
    var needsListening: Bool { entries.contains { $0.route == .listening } }

    /// The way in which a peer is being reached; nil if its connection is not pending.
    func route(of peer: BluetoothAddress) -> Route? { index(of: peer).map { entries[$0].route } }

    /// The address at which the controller reaches a peer; nil if there is none.
    func address(of peer: BluetoothAddress) -> BluetoothAddress? { index(of: peer).flatMap { entries[$0].address } }

    /// The peer that the controller reaches, or is to reach, at an address.
    func peer(at address: BluetoothAddress) -> BluetoothAddress? { index(at: address).map { entries[$0].peer } }

    /// Reaches a peer in another way. It leaves the queue, in which its address may be another one now.
    mutating func reroute(_ peer: BluetoothAddress, by route: Route) {
        guard let index = index(of: peer) else { return }
        (entries[index].route, entries[index].rank) = (route, nil)
    }

    /// Replaces the timer of a peer's attempt. Returns the previous one.
    mutating func exchangeTimer(of peer: BluetoothAddress, for timer: ScheduledTask?) -> ScheduledTask? {
        guard let index = index(of: peer) else { return nil }
        defer { entries[index].timer = timer }
        return entries[index].timer
    }
}

// MARK: - The controller's queue

extension PendingPeers {
    /// The addresses that the controller is to connect to, next ones first.
    var queue: [BluetoothAddress] {
        entries.filter { $0.rank != nil }.sorted { ($0.rank ?? 0) < ($1.rank ?? 0) }.compactMap(\.address)
    }

    func isQueued(_ address: BluetoothAddress) -> Bool { index(at: address).map { entries[$0].rank != nil } ?? false }

    /// Appends an address to the queue, or puts it before all others.
    mutating func enqueue(_ address: BluetoothAddress, first: Bool = false) {
        guard let index = index(at: address) else { return }
        if first { firstRank -= 1 } else { lastRank += 1 }
        entries[index].rank = first ? firstRank : lastRank
    }

    /// Moves addresses of the queue behind all others, in the given order.
    mutating func moveBack(_ addresses: [BluetoothAddress]) {
        for address in addresses where isQueued(address) { enqueue(address) }
    }

    mutating func dequeue(_ address: BluetoothAddress) {
        if let index = index(at: address) { entries[index].rank = nil }
    }
}
