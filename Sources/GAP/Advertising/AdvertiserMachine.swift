/// Keeps legacy advertising going the way it is wanted: through changes of the data, through connections, which end it at
/// the controller (Core Vol 6 Part B 4.4.2.3), and from the fast interval to the slow one.
struct AdvertiserMachine {
    /// Where the sequence of commands is.
    enum State: Equatable {
        case off
        /// The commands to begin are on their way. What was wanted since is in `wanted`.
        case starting(AdvertisingPlan)
        case advertising(AdvertisingPlan)
        /// The command to end is on its way.
        case stopping
        /// The controller cannot advertise while it holds the links that it has; tried again when one ends.
        case blocked
    }

    enum Event {
        /// This is to be advertised; nil for nothing.
        case want(AdvertisingPlan?)
        case started
        case failed(isPassing: Bool)
        case stopped
        /// A central has connected: the controller has stopped advertising by itself.
        case centralConnected
        /// A link has ended, or time has passed: the controller may have room again.
        case tryAgain
        case fastPhaseOver
        /// The controller is gone or new: it does not advertise.
        case reset
    }

    enum Action: Equatable {
        case start(AdvertisingPlan, AdvertisingPace)
        case stop
        /// Begins to count ``AdvertisingPace/fastPhase``, anew if it is counting.
        case startFastPhase
        case endFastPhase
        /// Begins to count ``AdvertisingPace/retryDelay``.
        case startRetry
        /// What was wanted is on the air.
        case reportStarted
        /// It is not, and will not be.
        case reportFailed
    }

    private(set) var state = State.off
    private(set) var wanted: AdvertisingPlan?
    private var pace = AdvertisingPace.fast

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .want(let plan): want(plan)
        case .started: started()
        case .failed(let isPassing): failed(isPassing: isPassing)
        case .stopped: state == .stopping ? ended() : []
        case .centralConnected: centralConnected()
        case .tryAgain: state == .blocked ? ended() : []
        case .fastPhaseOver: fastPhaseOver()
        case .reset: reset()
        }
    }

    private mutating func want(_ plan: AdvertisingPlan?) -> [Action] {
        guard plan != wanted else {
            if case .advertising(wanted) = state { return [.reportStarted] }
            return state == .blocked ? [.reportStarted] : []
        }
        let isNew = wanted == nil
        wanted = plan
        var actions: [Action] = []
        if plan == nil {
            pace = .fast
            actions.append(.endFastPhase)
        } else if isNew {
            pace = .fast
            actions.append(.startFastPhase)
        }
        switch state {
        case .off, .blocked: return actions + ended()
        case .advertising: return actions + stop()
        case .starting, .stopping: return actions
        }
    }

    private mutating func started() -> [Action] {
        guard case .starting(let plan) = state else { return [] }
        state = .advertising(plan)
        return wanted == plan ? [.reportStarted] : stop()
    }

    private mutating func failed(isPassing: Bool) -> [Action] {
        guard case .starting = state else { return [] }
        if isPassing {
            // Whoever asked need not know: he is heard when there is room (behaviour 7.26).
            state = .blocked
            return [.startRetry, .reportStarted]
        }
        state = .off
        wanted = nil
        return [.endFastPhase, .reportFailed]
    }

    private mutating func centralConnected() -> [Action] {
        guard case .advertising = state else { return [] }
        return ended()
    }

    private mutating func fastPhaseOver() -> [Action] {
        guard wanted != nil, pace == .fast else { return [] }
        pace = .slow
        guard case .advertising = state else { return [] }
        return stop()
    }

    private mutating func reset() -> [Action] {
        state = .off
        wanted = nil
        pace = .fast
        return [.endFastPhase]
    }

    private mutating func stop() -> [Action] {
        state = .stopping
        return [.stop]
    }

    /// Nothing is on the air; begins what is wanted.
    private mutating func ended() -> [Action] {
        guard let wanted else {
            state = .off
            return []
        }
        state = .starting(wanted)
        return [.start(wanted, pace)]
    }
}
