import BluetoothTypes
import HCI

/// Connects to many peers with the one pending LE Create Connection that a controller has (Core Vol 4 Part E 7.8.12).
///
/// One wanted peer is asked for by its address. Several go onto the filter accept list, which may not change while the
/// controller looks for them, so every change begins with a cancel. More peers than the list holds take turns.
struct ConnectorMachine {
    enum State: Equatable {
        case idle
        /// The controller listens for these.
        case initiating([BluetoothAddress])
        /// A cancel is on its way; its end is a Connection Complete event, whichever way the race goes.
        case cancelling
        /// The controller could not at that moment, as some cannot while they scan; it is asked again after a while.
        case waiting
    }

    enum Event {
        case want(BluetoothAddress)
        case unwant(BluetoothAddress)
        /// The attempt ended with a connection.
        case connected(BluetoothAddress)
        /// The attempt ended without one: it was cancelled, or the controller refused.
        case ended(HCIStatus)
        /// It is the turn of those that the list had no room for.
        case turnOver
        /// Time to ask a controller again that could not before.
        case retry
        /// The controller is not to look for peers for now, whoever is wanted.
        case pause
        /// It may again.
        case resume
        /// Some link of the controller has ended.
        case linkEnded
        /// The controller can make connections, with a list of so many entries.
        case ready(acceptListSize: Int)
        /// The controller is gone or new: it does not try to connect.
        case reset
    }

    enum Action: Equatable {
        case connect(to: BluetoothAddress)
        case connectToList([BluetoothAddress])
        case cancel
        /// Begins to count ``ConnectorMachine/turn``.
        case startTurn
        case endTurn
        /// Waits that long before ``ConnectorMachine/Event/retry``.
        case startRetry(Duration)
        /// The controller will not make this connection.
        case reportFailure(BluetoothAddress, HCIStatus)
        /// The controller says that it has a link to this peer, which is waited for on.
        case reportHeld(BluetoothAddress)
        /// The controller does not look for anybody for now.
        case reportPaused
    }

    /// How long the controller listens for one selection when there are more wanted peers than its list holds.
    static let turn: Duration = .seconds(4)
    /// How long to wait before a controller that could not look for peers is asked again.
    static let retryDelay: Duration = .seconds(1)
    /// The longest pause, after it has doubled with each round of refusals.
    static let longestRetryDelay: Duration = .seconds(32)
    /// Peers that may be wanted at a time.
    static let maximumWanted = 1_024

    private(set) var state = State.idle
    private(set) var wanted: [BluetoothAddress] = []
    private var capacity = 0
    private var isPaused = false
    /// Whether the controller refuses its own list, so that peers are tried one after the other.
    private var isListRefused = false
    /// Peers that were refused, one after the other, since the controller last took an attempt.
    private var refusals = 0
    /// Rounds of such refusals without a change that could help.
    private var rounds = 0

    /// Peers that the controller is asked for at a time.
    private var room: Int { isListRefused ? 1 : capacity }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .want(let address): want(address)
        case .unwant(let address): unwant(address)
        case .connected(let address): connected(address)
        case .ended(let status): ended(status)
        case .turnOver: turnOver()
        case .retry: retry()
        case .pause: pause()
        case .resume: resume()
        case .linkEnded: linkEnded()
        case .ready(let size): ready(size)
        case .reset: reset()
        }
    }

    private mutating func want(_ address: BluetoothAddress) -> [Action] {
        guard !wanted.contains(address) else { return [] }
        guard wanted.count < Self.maximumWanted else { return [.reportFailure(address, .connectionLimitExceeded)] }
        guard state == .waiting, rounds > 0 else {
            wanted.append(address)
            return change()
        }
        // The pause is for the others.
        wanted.insert(address, at: 0)
        state = .idle
        return begin()
    }

    private mutating func unwant(_ address: BluetoothAddress) -> [Action] {
        guard let index = wanted.firstIndex(of: address) else { return [] }
        wanted.remove(at: index)
        guard case .initiating(let selection) = state, selection.contains(address) else { return [] }
        return change()
    }

    private mutating func connected(_ address: BluetoothAddress) -> [Action] {
        wanted.removeAll { $0 == address }
        state = .idle
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return [.endTurn] + rest()
    }

    /// What the controller said that it had may be gone.
    private mutating func linkEnded() -> [Action] {
        let isHeldBack = state == .waiting && rounds > 0
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return isHeldBack ? retry() : []
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

    private mutating func resume() -> [Action] {
        isPaused = false
        return state == .idle ? begin() : []
    }

    private mutating func ended(_ status: HCIStatus) -> [Action] {
        guard case .initiating(let selection) = state else {
            state = .idle
            return rest()
        }
        guard status != .commandDisallowed && status != .controllerBusy else {
            state = .waiting
            return [.endTurn, .startRetry(Self.retryDelay)]
        }
        guard status != .connectionAlreadyExists else { return refused(selection) }
        state = .idle
        // Nobody cancelled: the controller cannot do it, and asking again at once would go round in circles.
        wanted.removeAll { selection.contains($0) }
        return [.endTurn] + selection.map { .reportFailure($0, status) } + rest()
    }

    /// The controller says that it has such a link. That passes with the link, and no pending connection ends by it (behaviour 3.1).
    /// Some controllers say so of every list as long as a link lives that came of one; peer by peer they connect.
    private mutating func refused(_ selection: [BluetoothAddress]) -> [Action] {
        state = .idle
        if selection.count > 1 {
            isListRefused = true
            return [.endTurn] + rest()
        }
        let pending = selection.filter(wanted.contains)
        wanted.removeAll { pending.contains($0) }
        wanted += pending
        refusals += 1
        let reports = pending.map { Action.reportHeld($0) }
        guard !isPaused, !wanted.isEmpty, refusals >= wanted.count else { return [.endTurn] + rest() + reports }
        state = .waiting
        refusals = 0
        rounds += 1
        let pause = min(Self.retryDelay * (1 << min(rounds - 1, 5)), Self.longestRetryDelay)
        return [.endTurn, .startRetry(pause)] + reports
    }

    private mutating func turnOver() -> [Action] {
        guard case .initiating(let selection) = state, wanted.count > selection.count else { return [] }
        refusals = 0
        wanted.removeAll { selection.contains($0) }
        wanted += selection
        return change()
    }

    private mutating func retry() -> [Action] {
        guard state == .waiting else { return [] }
        state = .idle
        return begin()
    }

    private mutating func ready(_ size: Int) -> [Action] {
        capacity = max(1, size)
        return state == .idle ? begin() : []
    }

    private mutating func reset() -> [Action] {
        state = .idle
        wanted = []
        capacity = 0
        isPaused = false
        (isListRefused, refusals, rounds) = (false, 0, 0)
        return [.endTurn]
    }

    /// The controller does not look for anybody; it goes on, unless it is not to.
    private mutating func rest() -> [Action] {
        isPaused ? [.reportPaused] : begin()
    }

    /// What is wanted is no longer what the controller listens for.
    private mutating func change() -> [Action] {
        switch state {
        case .idle:
            return begin()
        case .cancelling, .waiting:
            return []
        case .initiating(let selection):
            guard selection != Array(wanted.prefix(room)) else {
                return wanted.count > room ? [.startTurn] : []
            }
            state = .cancelling
            return [.endTurn, .cancel]
        }
    }

    private mutating func begin() -> [Action] {
        guard capacity > 0, !isPaused, let first = wanted.first else { return [] }
        let selection = Array(wanted.prefix(room))
        state = .initiating(selection)
        let turns: [Action] = wanted.count > room ? [.startTurn] : []
        return [selection.count == 1 ? .connect(to: first) : .connectToList(selection)] + turns
    }
}
