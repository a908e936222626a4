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
        /// Begins to count ``ConnectorMachine/retryDelay``.
        case startRetry
        /// The controller will not make this connection.
        case reportFailure(BluetoothAddress, HCIStatus)
        /// The controller does not look for anybody for now.
        case reportPaused
    }

    /// How long the controller listens for one selection when there are more wanted peers than its list holds.
    static let turn: Duration = .seconds(4)
    /// How long to wait before a controller that could not look for peers is asked again.
    static let retryDelay: Duration = .seconds(1)
    /// Peers that may be wanted at a time.
    static let maximumWanted = 256

    private(set) var state = State.idle
    private(set) var wanted: [BluetoothAddress] = []
    private var capacity = 0
    private var isPaused = false

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
        case .ready(let size): ready(size)
        case .reset: reset()
        }
    }

    private mutating func want(_ address: BluetoothAddress) -> [Action] {
        guard !wanted.contains(address) else { return [] }
        guard wanted.count < Self.maximumWanted else { return [.reportFailure(address, .connectionLimitExceeded)] }
        wanted.append(address)
        return change()
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
        return [.endTurn] + rest()
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
            return [.endTurn, .startRetry]
        }
        state = .idle
        // Nobody cancelled: the controller cannot do it, and asking again at once would go round in circles.
        wanted.removeAll { selection.contains($0) }
        return [.endTurn] + selection.map { .reportFailure($0, status) } + rest()
    }

    private mutating func turnOver() -> [Action] {
        guard case .initiating(let selection) = state, wanted.count > selection.count else { return [] }
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
            guard selection != Array(wanted.prefix(capacity)) else {
                return wanted.count > capacity ? [.startTurn] : []
            }
            state = .cancelling
            return [.endTurn, .cancel]
        }
    }

    private mutating func begin() -> [Action] {
        guard capacity > 0, !isPaused, let first = wanted.first else { return [] }
        let selection = Array(wanted.prefix(capacity))
        state = .initiating(selection)
        let turns: [Action] = wanted.count > capacity ? [.startTurn] : []
        return [selection.count == 1 ? .connect(to: first) : .connectToList(selection)] + turns
    }
}
