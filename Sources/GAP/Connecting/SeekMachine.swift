import BluetoothTypes

/// Connects to bonded peers whose private addresses only the host can resolve: it listens until it hears one, and then has
/// the controller connect to the address that it was heard with, which is soon another one.
struct SeekMachine {
    enum Phase: Equatable {
        /// It is to be heard.
        case listening
        /// The controller is to connect to it at this address.
        case trying(BluetoothAddress)
    }

    enum Event {
        case want(BluetoothAddress)
        case unwant(BluetoothAddress)
        /// A peer is heard at an address, and can be connected to.
        case heard(BluetoothAddress, at: BluetoothAddress)
        /// It has not let itself be connected to in time.
        case timeOver(BluetoothAddress)
        /// There is a link to it.
        case connected(BluetoothAddress)
        /// The controller cannot connect to it.
        case failed(BluetoothAddress)
        /// There is no controller.
        case reset
    }

    enum Action: Equatable {
        case listen
        case endListening
        case connect(BluetoothAddress)
        case giveUp(BluetoothAddress)
        /// Begins to count ``SeekMachine/tryTime`` for this peer.
        case startTimer(BluetoothAddress)
        case endTimer(BluetoothAddress)
    }

    /// How long the controller tries an address. A peer that is still there is heard again.
    static let tryTime = Duration.seconds(4)

    private(set) var peers: [BluetoothAddress: Phase] = [:]
    private var isListening = false

    /// Where the controller tries to reach a peer.
    func address(of peer: BluetoothAddress) -> BluetoothAddress? {
        if case .trying(let address)? = peers[peer] { address } else { nil }
    }

    /// The peer that the controller tries to reach at an address.
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
        // The connector knows of these two, and wants the address no more.
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

    /// Listens as long as there is somebody to be heard.
    private mutating func review() -> [Action] {
        let isNeeded = peers.values.contains(.listening)
        guard isNeeded != isListening else { return [] }
        isListening = isNeeded
        return [isNeeded ? .listen : .endListening]
    }
}
