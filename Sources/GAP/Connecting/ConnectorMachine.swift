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
        case unwant(BluetoothAddress)
        /// The attempt ended with a connection.
        case connected(BluetoothAddress)
        /// The attempt ended without a connection: it was cancelled, or the controller refused.
        case ended(HCIStatus)
        /// The turn of the current selection is over.
        case turnOver
        /// The retry delay has passed.
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
        /// The controller cannot make this connection.
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
    /// The maximum number of pending connections.
    static let maximumWanted = 1_024

    private(set) var state = State.idle
    private(set) var wanted: [BluetoothAddress] = []
    private var capacity = 0
    private var isPaused = false
    /// Whether the controller refuses lists of peers, so that peers are tried one by one.
    private var isListRefused = false
    /// The consecutive refusals of single peers since the controller last accepted an attempt.
    private var refusals = 0
    /// The rounds of such refusals without an event that could help.
    private var rounds = 0

    /// The number of peers to request at a time.
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
        // The delay applies to the other peers.
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

    /// Retries at once, since the link that the controller claimed to have may be gone.
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
        // Not caused by a cancel: the controller cannot connect, and an immediate retry would loop.
        wanted.removeAll { selection.contains($0) }
        return [.endTurn] + selection.map { .reportFailure($0, status) } + rest()
    }

    /// Handles a controller that claims to have such a link already. The condition passes with the link, and does not
    /// end a pending connection (behaviour 3.1).
    ///
    /// Some controllers refuse every list in this way while a link exists that resulted from a list, but connect to
    /// single peers.
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

    /// Called when the controller has stopped searching. Continues unless paused.
    private mutating func rest() -> [Action] {
        isPaused ? [.reportPaused] : begin()
    }

    /// Called when the wanted peers may differ from the controller's selection.
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
