import HCI
import HCIHost

/// Keeps one advertising set going the way it is wanted: through changes of the data, through connections, which end it at
/// the controller (Core Vol 6 Part B 4.4.2.3), from the fast interval to the slow one, and to the end of its time.
struct AdvertiserMachine {
    /// Where the sequence of commands is.
    enum State: Equatable {
        case off
        /// The commands to begin are on their way. What was wanted since is in `wanted`.
        case starting(Advertisement)
        case advertising(Advertisement)
        /// The command to end is on its way.
        case stopping
        /// The controller cannot advertise while it holds the links that it has; tried again when one ends.
        case blocked
    }

    enum Event {
        /// This is to be advertised; nil for nothing.
        case want(Advertisement?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        /// The controller has stopped by itself: a central has connected, or its own time was over.
        case terminated(AdvertisingEnd)
        /// A link has ended, or time has passed: the controller may have room again.
        case tryAgain
        case fastPhaseOver
        /// The time of what is wanted is over.
        case limitReached
        /// The private address has been used for long enough.
        case addressExpired
        /// The controller is not to advertise for now, whatever is wanted.
        case pause
        /// It may again.
        case resume
        /// The controller is gone or new: it does not advertise.
        case reset
    }

    enum Action: Equatable {
        case start(Advertisement, AdvertisingTempo.Phase)
        case stop
        /// Begins to count the fast phase and the limit, anew if they are being counted.
        case startTimers(Advertisement)
        case endTimers
        /// Begins to count ``AdvertiserMachine/retryDelay``.
        case startRetry
        /// What was wanted is on the air.
        case reportStarted
        /// It is not, and will not be.
        case reportFailed(GAPError)
        /// It was, and is no longer; nothing is wanted any more.
        case reportEnded(AdvertisingEnd)
        /// Nothing is on the air for now.
        case reportPaused
    }

    /// How long to wait before a controller that could not advertise is asked again.
    static let retryDelay: Duration = .seconds(1)

    private(set) var state = State.off
    private(set) var wanted: Advertisement?
    /// Whether the controller is not to advertise for now.
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

    private mutating func want(_ advertisement: Advertisement?) -> [Action] {
        guard advertisement != wanted else {
            if case .advertising(wanted) = state { return [.reportStarted] }
            return state == .blocked ? [.reportStarted] : []
        }
        // Another text of the same kind is no new beginning: it goes on in the phase that it is in, to the same end.
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
            // Whoever asked need not know: he is heard when there is room (behaviour 7.26).
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
            // A connection may have been made to what is no longer wanted.
            return wanted == advertisement && !goesOn ? finish(end) : ended()
        case .stopping where wanted != nil && !goesOn:
            // It was to begin anew, for instance in its slow phase, and has come to its end meanwhile.
            wanted = nil
            return [.endTimers, .reportEnded(end)]
        case .off, .starting, .stopping, .blocked: return []
        }
    }

    /// What was wanted has come to its end.
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

    /// Nothing is on the air; begins what is wanted.
    private mutating func ended() -> [Action] {
        guard let wanted, !isPaused else {
            state = .off
            return isPaused ? [.reportPaused] : []
        }
        state = .starting(wanted)
        return [.start(wanted, phase)]
    }
}

/// Why advertising has ended by itself.
package enum AdvertisingEnd: Hashable, Sendable {
    /// A central has connected.
    case connected
    /// The time for it is over.
    case timeOver
}
