import BluetoothTypes

/// The state machine that connects to bonded peers whose private addresses only the host can resolve.
///
/// It scans until it receives a packet from the peer, then lets the controller connect to that address before it
/// changes.
struct SeekMachine {
    enum Event {
        case want(BluetoothAddress)
        case withdraw(BluetoothAddress)
        /// A connectable packet of a peer was received from an address.
        case received(BluetoothAddress, at: BluetoothAddress)
        case timeOver(BluetoothAddress)
        /// A link to the peer exists.
        case connected(BluetoothAddress)
        case failed(BluetoothAddress)
        /// The controller is gone.
        case reset
    }

    enum Action: Equatable {
        case listen
        case endListening
        case connect(BluetoothAddress)
        case giveUp(BluetoothAddress)
        /// Start a timer with ``SeekMachine/tryTime`` for this peer.
        case startTimer(BluetoothAddress)
        case endTimer(BluetoothAddress)
    }

    /// The time for which the controller tries an address. A peer that is still in range is then detected again.
    static let tryTime = Duration.seconds(4)

    private var isListening = false

    /// Handles an event. The routes of `peers` say which of them the host searches for.
    mutating func handle(_ event: Event, _ peers: inout PendingPeers) -> [Action] {
        switch event {
        case .want(let peer):
            guard peers.add(peer), peers.route(of: peer) == .controller else { return [] }
            peers.reroute(peer, by: .listening)
            return review(peers)
        case .withdraw(let peer): return end(peer, givesUp: true, &peers)
        case .received(let peer, let address): return receive(peer, address, &peers)
        case .timeOver(let peer):
            guard case .trying(let address)? = peers.route(of: peer) else { return [] }
            peers.reroute(peer, by: .listening)
            return [.giveUp(address)] + review(peers)
        // The connector has already removed the address in these two cases.
        case .connected(let peer), .failed(let peer): return end(peer, givesUp: false, &peers)
        case .reset:
            let trying = peers.sought.filter { peers.route(of: $0) != .listening }
            for peer in peers.sought { peers.reroute(peer, by: .controller) }
            isListening = false
            return trying.map { .endTimer($0) }
        }
    }

    private mutating func receive(
        _ peer: BluetoothAddress,
        _ address: BluetoothAddress,
        _ peers: inout PendingPeers
    ) -> [Action] {
        switch peers.route(of: peer) {
        case nil, .controller, .trying(address): return []
        case .listening:
            peers.reroute(peer, by: .trying(address))
            return review(peers) + [.connect(address), .startTimer(peer)]
        case .trying(let old):
            peers.reroute(peer, by: .trying(address))
            return [.giveUp(old), .connect(address), .startTimer(peer)]
        }
    }

    private mutating func end(
        _ peer: BluetoothAddress,
        givesUp: Bool,
        _ peers: inout PendingPeers
    ) -> [Action] {
        switch peers.route(of: peer) {
        case nil, .controller: return []
        case .listening:
            peers.reroute(peer, by: .controller)
            return review(peers)
        case .trying(let address):
            peers.reroute(peer, by: .controller)
            return [.endTimer(peer)] + (givesUp ? [.giveUp(address)] : []) + review(peers)
        }
    }

    /// Scans while any peer is still to be found.
    private mutating func review(_ peers: PendingPeers) -> [Action] {
        guard peers.needsListening != isListening else { return [] }
        isListening = peers.needsListening
        return [isListening ? .listen : .endListening]
    }
}
