import BluetoothTypes

/// The state machine that connects to bonded peers whose private addresses only the host can resolve.
///
/// It scans until it receives a packet from the peer, then lets the controller connect to that address before it
/// changes.
struct SeekMachine {
    enum Phase: Equatable {
        /// Scanning for the peer.
        case listening
        /// The controller is connecting to the peer at this address.
        case trying(BluetoothAddress)
    }

    enum Event {
        case want(BluetoothAddress)
        case unwant(BluetoothAddress)
        /// A connectable packet of a peer was received from an address.
        case heard(BluetoothAddress, at: BluetoothAddress)
        /// The attempt to connect has timed out.
        case timeOver(BluetoothAddress)
        /// A link to the peer exists.
        case connected(BluetoothAddress)
        /// The controller cannot connect to the peer.
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

    private(set) var peers: [BluetoothAddress: Phase] = [:]
    private var isListening = false

    /// The address at which the controller is trying to reach a peer.
    func address(of peer: BluetoothAddress) -> BluetoothAddress? {
        if case .trying(let address)? = peers[peer] { address } else { nil }
    }

    /// The peer that the controller is trying to reach at an address.
    func peer(at address: BluetoothAddress) -> BluetoothAddress? {
        peers.first { $0.value == .trying(address) }?.key
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .want(let peer):
            guard peers[peer] == nil else { return [] }
            peers[peer] = .listening
            return review()
        case .unwant(let peer): return end(peer, givesUp: true)
        case .heard(let peer, let address): return heard(peer, address)
        case .timeOver(let peer):
            guard case .trying(let address)? = peers[peer] else { return [] }
            peers[peer] = .listening
            return [.giveUp(address)] + review()
        // The connector has already removed the address in these two cases.
        case .connected(let peer), .failed(let peer): return end(peer, givesUp: false)
        case .reset:
            let timers = peers.filter { $0.value != .listening }.map { Action.endTimer($0.key) }
            (peers, isListening) = ([:], false)
            return timers
        }
    }

    private mutating func heard(_ peer: BluetoothAddress, _ address: BluetoothAddress) -> [Action] {
        switch peers[peer] {
        case nil, .trying(address): return []
        case .listening:
            peers[peer] = .trying(address)
            return review() + [.connect(address), .startTimer(peer)]
        case .trying(let old):
            peers[peer] = .trying(address)
            return [.giveUp(old), .connect(address), .startTimer(peer)]
        }
    }

    private mutating func end(_ peer: BluetoothAddress, givesUp: Bool) -> [Action] {
        switch peers.removeValue(forKey: peer) {
        case nil: return []
        case .listening: return review()
        case .trying(let address): return [.endTimer(peer)] + (givesUp ? [.giveUp(address)] : []) + review()
        }
    }

    /// Scans while any peer is still to be found.
    private mutating func review() -> [Action] {
        let isNeeded = peers.values.contains(.listening)
        guard isNeeded != isListening else { return [] }
        isListening = isNeeded
        return [isNeeded ? .listen : .endListening]
    }
}
