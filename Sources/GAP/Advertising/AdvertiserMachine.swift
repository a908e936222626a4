import HCI
import HCIHost

/// The state machine of one advertising set.
///
/// It keeps the wanted advertisement going through changes of the data, through connections, which end advertising
/// (Core Vol 6 Part B 4.4.2.3), from the fast interval to the slow one, and until its time limit.
struct AdvertiserMachine {
    /// The state of the command sequence.
    enum State: Equatable {
        case off
        /// The start commands are in progress. `wanted` holds later requests.
        case starting(AdvertisingConfiguration)
        case advertising(AdvertisingConfiguration)
        /// The stop command is in progress.
        case stopping
        /// The controller cannot advertise in addition to its current links. Retried when a link ends.
        case blocked
    }

    enum Event {
        /// The wanted advertisement changed; nil to stop.
        case want(AdvertisingConfiguration?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        /// The controller stopped by itself: a central connected, or the set's duration ended.
        case terminated(AdvertisingEnd)
        /// A link ended or the retry delay passed, so that the controller may be able to advertise.
        case tryAgain
        case fastPhaseOver
        /// The time limit of the wanted advertisement was reached.
        case limitReached
        /// The private address is due for a change.
        case addressExpired
        /// Stop advertising until ``resume``.
        case pause
        /// Advertise again after ``pause``, if anything is wanted.
        case resume
        /// The controller was reset or removed, and does not advertise.
        case reset
    }

    enum Action: Equatable {
        case start(AdvertisingConfiguration, AdvertisingTempo.Phase)
        case stop
        /// Start the timers of the fast phase and of the limit, or restart them.
        case startTimers(AdvertisingConfiguration)
        case endTimers
        /// Start a timer with ``AdvertiserMachine/retryDelay``.
        case startRetry
        /// The wanted advertisement has started.
        case reportStarted
        /// The wanted advertisement failed and was discarded.
        case reportFailed(GAPError)
        /// The advertisement ended, and nothing is wanted any more.
        case reportEnded(AdvertisingEnd)
        /// Advertising is off, and stays off until the pause ends.
        case reportPaused
    }

    /// The delay before a retry when the controller was unable to advertise.
    static let retryDelay: Duration = .seconds(1)

    private(set) var state = State.off
    private(set) var wanted: AdvertisingConfiguration?
    /// Whether advertising is paused.
    private(set) var isPaused = false
    private var phase = AdvertisingTempo.Phase.fast

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .want(let advertisement): want(advertisement)
        case .started: started()
        case .failed(let error, let isPassing): failed(error, isPassing: isPassing)
        case .stopped: state == .stopping ? ended() : []
        case .terminated(let end): terminated(end)
        case .tryAgain: state == .blocked && !isPaused ? ended() : []
        case .fastPhaseOver: fastPhaseOver()
        case .limitReached: limitReached()
        case .addressExpired: addressExpired()
        case .pause: pause()
        case .resume: resume()
        case .reset: reset()
        }
    }

    private mutating func want(_ advertisement: AdvertisingConfiguration?) -> [Action] {
        guard advertisement != wanted else {
            if case .advertising(wanted) = state { return [.reportStarted] }
            return state == .blocked ? [.reportStarted] : []
        }
        // Changed data with the same timing continues in the current phase, with the same limit.
        let isNew = wanted?.tempo != advertisement?.tempo || wanted?.limit != advertisement?.limit
        wanted = advertisement
        var actions: [Action] = []
        if let advertisement, isNew {
            phase = .fast
            actions.append(.startTimers(advertisement))
        } else if advertisement == nil {
            actions.append(.endTimers)
        }
        switch state {
        case .off, .blocked: return actions + (isPaused ? [] : ended())
        case .advertising: return actions + stop()
        case .starting, .stopping: return actions
        }
    }

    private mutating func pause() -> [Action] {
        isPaused = true
        switch state {
        case .off, .blocked: return [.reportPaused]
        case .advertising: return stop()
        case .starting, .stopping: return []
        }
    }

    private mutating func resume() -> [Action] {
        isPaused = false
        return state == .off || state == .blocked ? ended() : []
    }

    private mutating func started() -> [Action] {
        guard case .starting(let advertisement) = state else { return [] }
        state = .advertising(advertisement)
        guard wanted == advertisement else { return stop() }
        return [.reportStarted] + (isPaused ? stop() : [])
    }

    private mutating func failed(_ error: GAPError, isPassing: Bool) -> [Action] {
        guard case .starting(let advertisement) = state else { return [] }
        guard wanted == advertisement else {
            state = .off
            return ended()
        }
        if isPassing {
            // The failure is not reported: advertising starts when the controller has room (behaviour 7.26).
            state = .blocked
            return [.startRetry, .reportStarted] + (isPaused ? [.reportPaused] : [])
        }
        state = .off
        wanted = nil
        return [.endTimers, .reportFailed(error)] + (isPaused ? [.reportPaused] : [])
    }

    private mutating func terminated(_ end: AdvertisingEnd) -> [Action] {
        let goesOn = wanted.map { end == .connected && $0.outlastsConnections } ?? false
        switch state {
        case .advertising(let advertisement):
            // The connection may belong to an advertisement that is no longer wanted.
            return wanted == advertisement && !goesOn ? finish(end) : ended()
        case .stopping where wanted != nil && !goesOn:
            // The set was about to restart, for instance for its slow phase, and ended meanwhile.
            wanted = nil
            return [.endTimers, .reportEnded(end)]
        case .off, .starting, .stopping, .blocked: return []
        }
    }

    /// Ends the wanted advertisement.
    private mutating func finish(_ end: AdvertisingEnd) -> [Action] {
        state = .off
        wanted = nil
        return [.endTimers, .reportEnded(end)]
    }

    private mutating func limitReached() -> [Action] {
        guard wanted != nil else { return [] }
        wanted = nil
        let actions: [Action] = [.endTimers, .reportEnded(.timeOver)]
        switch state {
        case .off, .blocked: return actions + (isPaused ? [] : ended())
        case .advertising: return actions + stop()
        case .starting, .stopping: return actions
        }
    }

    private mutating func fastPhaseOver() -> [Action] {
        guard let wanted, wanted.tempo.slow != nil, phase == .fast else { return [] }
        phase = .slow
        return restart()
    }

    private mutating func addressExpired() -> [Action] {
        wanted == nil ? [] : restart()
    }

    private mutating func restart() -> [Action] {
        guard case .advertising = state else { return [] }
        return stop()
    }

    private mutating func reset() -> [Action] {
        state = .off
        wanted = nil
        isPaused = false
        phase = .fast
        return [.endTimers]
    }

    private mutating func stop() -> [Action] {
        state = .stopping
        return [.stop]
    }

    /// Called when the set is off; starts what is wanted.
    private mutating func ended() -> [Action] {
        guard let wanted, !isPaused else {
            state = .off
            return isPaused ? [.reportPaused] : []
        }
        state = .starting(wanted)
        return [.start(wanted, phase)]
    }
}

/// The reason why advertising ended by itself.
package enum AdvertisingEnd: Hashable, Sendable {
    /// A central has connected to the set.
    case connected
    /// The time limit was reached.
    case timeOver
}
