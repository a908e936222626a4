import BluetoothTypes
import HCI

/// The state machine that connects to many peers with the single pending LE Create Connection of a controller (Core Vol
/// 4 Part E 7.8.12).
///
/// A single peer is requested by its address. Several are put on the filter accept list. The list must not change while
/// the controller is searching, so every change starts with a cancel. If there are more peers than entries, they take
/// turns.
struct ConnectorMachine {
    enum State: Equatable {
        case idle
        /// The controller is searching for these peers.
        case initiating([BluetoothAddress])
        /// A cancel is in progress. It ends with a Connection Complete event, whichever side wins the race.
        case cancelling
        /// The controller was temporarily unable to search, as some are while scanning. Retried after a delay.
        case waiting
    }

    enum Event {
        case want(BluetoothAddress)
        case withdraw(BluetoothAddress)
        case connected(BluetoothAddress)
        /// The attempt ended without a connection: it was cancelled, or the controller refused.
        case ended(HCIStatus)
        case turnOver
        case retry
        /// Stop searching until ``resume``.
        case pause
        /// Search again after ``pause``, if any peer is wanted.
        case resume
        /// A link of the controller has ended.
        case linkEnded
        /// The controller is ready, with the given number of filter accept list entries.
        case ready(acceptListSize: Int)
        /// The controller was reset or removed, and is not searching.
        case reset
    }

    enum Action: Equatable {
        case connect(to: BluetoothAddress)
        case connectToList([BluetoothAddress])
        case cancel
        /// Start a timer with ``ConnectorMachine/turn``.
        case startTurn
        case endTurn
        /// Send ``ConnectorMachine/Event/retry`` after the given delay.
        case startRetry(Duration)
        case reportFailure(BluetoothAddress, HCIStatus)
        /// The controller claims to have a link to this peer; the connection stays pending.
        case reportHeld(BluetoothAddress)
        /// Searching is off, and stays off until the pause ends.
        case reportPaused
    }

    /// The duration of a turn when there are more pending peers than list entries.
    static let turn: Duration = .seconds(4)
    /// The delay before a retry when the controller was unable to search.
    static let retryDelay: Duration = .seconds(1)
    /// The maximum retry delay, which doubles with each round of refusals.
    static let longestRetryDelay: Duration = .seconds(32)
    private(set) var state = State.idle
    private var capacity = 0
    private var isPaused = false
    /// Whether the controller refuses lists of peers, so that peers are tried one by one.
    private var isListRefused = false
    /// The consecutive refusals of single peers since the controller last accepted an attempt.
    private var refusals = 0
    /// The rounds of such refusals without an event that could help.
    private var rounds = 0

    private var room: Int { isListRefused ? 1 : capacity }

    /// Handles an event. The queue of `peers` has the addresses to connect to.
    mutating func handle(_ event: Event, _ peers: inout PendingPeers) -> [Action] {
        defer { assert(brokenInvariant(with: peers) == nil, brokenInvariant(with: peers) ?? "") }
        return switch event {
        case .want(let address): want(address, &peers)
        case .withdraw(let address): withdraw(address, &peers)
        case .connected(let address): connected(address, &peers)
        case .ended(let status): ended(status, &peers)
        case .turnOver: turnOver(&peers)
        case .retry: retry(peers)
        case .pause: pause()
        case .resume: resume(peers)
        case .linkEnded: linkEnded(peers)
        case .ready(let size): ready(size, peers)
        case .reset: reset(&peers)
        }
    }

    func brokenInvariant(with peers: PendingPeers) -> String? {
        switch state {
        case .initiating(let selection):
            guard !selection.isEmpty, selection.count <= max(room, 1) else {
                return "the controller searches for more peers than it has room for, or for none"
            }
            return isPaused ? "the controller searches during a pause" : nil
        case .idle: return isPaused || room == 0 || peers.queue.isEmpty ? nil : "a queued peer is not searched for"
        case .cancelling, .waiting: return nil
        }
    }

    private mutating func want(_ address: BluetoothAddress, _ peers: inout PendingPeers) -> [Action] {
        guard !peers.isQueued(address) else { return [] }
        guard peers.peer(at: address) != nil || peers.add(address) else {
            return [.reportFailure(address, .connectionLimitExceeded)]
        }
        guard state == .waiting, rounds > 0 else {
            peers.enqueue(address)
            return change(peers)
        }
        // The delay applies to the other peers.
        peers.enqueue(address, first: true)
        state = .idle
        return begin(peers)
    }

    private mutating func withdraw(_ address: BluetoothAddress, _ peers: inout PendingPeers) -> [Action] {
        peers.dequeue(address)
        guard case .initiating(let selection) = state, selection.contains(address) else { return [] }
        return change(peers)
    }

    private mutating func connected(_ address: BluetoothAddress, _ peers: inout PendingPeers) -> [Action] {
        peers.dequeue(address)
        state = .idle
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return [.endTurn] + rest(peers)
    }

    /// Retries at once, since the link that the controller claimed to have may be gone.
    private mutating func linkEnded(_ peers: PendingPeers) -> [Action] {
        let isHeldBack = state == .waiting && rounds > 0
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return isHeldBack ? retry(peers) : []
    }

    private mutating func pause() -> [Action] {
        isPaused = true
        switch state {
        case .idle, .waiting: return [.reportPaused]
        case .cancelling: return []
        case .initiating:
            state = .cancelling
            return [.endTurn, .cancel]
        }
    }

    private mutating func resume(_ peers: PendingPeers) -> [Action] {
        isPaused = false
        return state == .idle ? begin(peers) : []
    }

    private mutating func ended(_ status: HCIStatus, _ peers: inout PendingPeers) -> [Action] {
        guard case .initiating(let selection) = state else {
            state = .idle
            return rest(peers)
        }
        guard status != .commandDisallowed && status != .controllerBusy else {
            state = .waiting
            return [.endTurn, .startRetry(Self.retryDelay)]
        }
        guard status != .connectionAlreadyExists else { return refused(selection, &peers) }
        state = .idle
        // Not caused by a cancel: the controller cannot connect, and an immediate retry would loop.
        for address in selection { peers.dequeue(address) }
        return [.endTurn] + selection.map { .reportFailure($0, status) } + rest(peers)
    }

    /// Handles a controller that claims to have such a link already. The condition passes with the link, and does not
    /// end a pending connection (behaviour 3.1).
    ///
    /// Some controllers refuse every list in this way while a link exists that resulted from a list, but connect to
    /// single peers.
    private mutating func refused(_ selection: [BluetoothAddress], _ peers: inout PendingPeers) -> [Action] {
        state = .idle
        if selection.count > 1 {
            isListRefused = true
            return [.endTurn] + rest(peers)
        }
        let pending = selection.filter(peers.isQueued)
        peers.moveBack(pending)
        refusals += 1
        let reports = pending.map { Action.reportHeld($0) }
        let count = peers.queue.count
        guard !isPaused, count > 0, refusals >= count else { return [.endTurn] + rest(peers) + reports }
        state = .waiting
        refusals = 0
        rounds += 1
        let pause = min(Self.retryDelay * (1 << min(rounds - 1, 5)), Self.longestRetryDelay)
        return [.endTurn, .startRetry(pause)] + reports
    }

    private mutating func turnOver(_ peers: inout PendingPeers) -> [Action] {
        guard case .initiating(let selection) = state, peers.queue.count > selection.count else { return [] }
        refusals = 0
        peers.moveBack(selection)
        return change(peers)
    }

    private mutating func retry(_ peers: PendingPeers) -> [Action] {
        guard state == .waiting else { return [] }
        state = .idle
        return begin(peers)
    }

    private mutating func ready(_ size: Int, _ peers: PendingPeers) -> [Action] {
        capacity = max(1, size)
        return state == .idle ? begin(peers) : []
    }

    private mutating func reset(_ peers: inout PendingPeers) -> [Action] {
        state = .idle
        peers.removeAll()
        capacity = 0
        isPaused = false
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return [.endTurn]
    }

    /// Called when the controller has stopped searching. Continues unless paused.
    private mutating func rest(_ peers: PendingPeers) -> [Action] {
        isPaused ? [.reportPaused] : begin(peers)
    }

    /// Called when the wanted peers may differ from the controller's selection.
    private mutating func change(_ peers: PendingPeers) -> [Action] {
        switch state {
        case .idle:
            return begin(peers)
        case .cancelling, .waiting:
            return []
        case .initiating(let selection):
            let wanted = peers.queue
            guard selection != Array(wanted.prefix(room)) else {
                return wanted.count > room ? [.startTurn] : []
            }
            state = .cancelling
            return [.endTurn, .cancel]
        }
    }

    private mutating func begin(_ peers: PendingPeers) -> [Action] {
        let wanted = peers.queue
        guard capacity > 0, !isPaused, let first = wanted.first else { return [] }
        let selection = Array(wanted.prefix(room))
        state = .initiating(selection)
        let turns: [Action] = wanted.count > room ? [.startTurn] : []
        return [selection.count == 1 ? .connect(to: first) : .connectToList(selection)] + turns
    }
}
