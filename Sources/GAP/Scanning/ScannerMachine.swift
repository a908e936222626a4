/// Turns the controller's scanning on and off, one sequence of commands after the other (Core Vol 4 Part E 7.8.10, 7.8.11,
/// 7.8.64, 7.8.65).
struct ScannerMachine {
    enum State: Equatable {
        case off
        /// The commands to begin are on their way. What was wanted since is in `wanted`.
        case starting(ScanSettings)
        case scanning(ScanSettings)
        /// The command to end is on its way.
        case stopping
        /// The controller could not, as some cannot while they connect; it is asked again after a while.
        case blocked
    }

    enum Event {
        /// This is how to listen; nil when nobody wants to.
        case want(ScanSettings?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        /// Time to ask a controller again that could not before.
        case retry
        /// The time of the scan is over; the controller may have noticed by itself.
        case limitReached(hasStopped: Bool)
        /// The controller is not to scan for now, whatever is wanted.
        case pause
        /// It may again.
        case resume
        /// The controller is gone or new: it does not scan.
        case reset
    }

    enum Action: Equatable {
        case start(ScanSettings)
        case stop
        /// Begins to count ``ScannerMachine/retryDelay``.
        case startRetry
        /// It scans.
        case reportStarted
        /// It does not, and will not.
        case reportFailed(GAPError)
        /// Its time is over; nothing is wanted any more.
        case reportEnded
        /// It does not for now.
        case reportPaused
    }

    /// How long to wait before a controller that could not scan is asked again.
    static let retryDelay = Duration.seconds(1)

    private(set) var state = State.off
    private(set) var wanted: ScanSettings?
    private var isPaused = false

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .want(let settings): return want(settings)
        case .started:
            guard case .starting(let settings) = state else { return [] }
            state = .scanning(settings)
            guard wanted == settings else { return stop() }
            return [.reportStarted] + (isPaused ? stop() : [])
        case .failed(let error, let isPassing): return failed(error, isPassing: isPassing)
        case .stopped: return state == .stopping ? ended() : []
        case .retry: return state == .blocked && !isPaused ? ended() : []
        case .limitReached(let hasStopped): return limitReached(hasStopped: hasStopped)
        case .pause: return pause()
        case .resume: return resume()
        case .reset:
            (state, wanted, isPaused) = (.off, nil, false)
            return []
        }
    }

    private mutating func want(_ settings: ScanSettings?) -> [Action] {
        guard settings != wanted else { return [] }
        wanted = settings
        switch state {
        case .off, .blocked: return isPaused ? [] : ended()
        case .scanning: return stop()
        case .starting, .stopping: return []
        }
    }

    private mutating func pause() -> [Action] {
        isPaused = true
        switch state {
        case .off, .blocked: return [.reportPaused]
        case .scanning: return stop()
        case .starting, .stopping: return []
        }
    }

    private mutating func resume() -> [Action] {
        isPaused = false
        return state == .off || state == .blocked ? ended() : []
    }

    private mutating func failed(_ error: GAPError, isPassing: Bool) -> [Action] {
        guard case .starting(let settings) = state else { return [] }
        guard wanted == settings else { return ended() }
        if isPassing {
            state = .blocked
            return [.startRetry] + (isPaused ? [.reportPaused] : [])
        }
        (state, wanted) = (.off, nil)
        return [.reportFailed(error)] + (isPaused ? [.reportPaused] : [])
    }

    private mutating func limitReached(hasStopped: Bool) -> [Action] {
        guard case .scanning(let settings) = state else { return [] }
        guard wanted == settings else { return hasStopped ? ended() : stop() }
        wanted = nil
        return [.reportEnded] + (hasStopped ? ended() : stop())
    }

    private mutating func stop() -> [Action] {
        state = .stopping
        return [.stop]
    }

    /// The controller does not scan; begins what is wanted.
    private mutating func ended() -> [Action] {
        guard let wanted, !isPaused else {
            state = .off
            return isPaused ? [.reportPaused] : []
        }
        state = .starting(wanted)
        return [.start(wanted)]
    }
}
