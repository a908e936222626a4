/// The state machine that starts and stops the controller's scan, one sequence of commands after the other (Core Vol 4
/// Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65).
struct ScannerMachine {
    enum State: Equatable {
        case off
        /// The start commands are in progress. `wanted` holds later requests.
        case starting(ScanSettings)
        case scanning(ScanSettings)
        /// The stop command is in progress.
        case stopping
        /// The controller was temporarily unable to scan, as some are while connecting. Retried after a delay.
        case blocked
    }

    enum Event {
        /// The wanted scan changed; nil to stop.
        case want(ScanSettings?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        /// The retry delay has passed.
        case retry
        /// The time limit of the scan was reached. The controller may have stopped by itself.
        case limitReached(hasStopped: Bool)
        /// Stop scanning until ``resume``.
        case pause
        /// Scan again after ``pause``, if a scan is wanted.
        case resume
        /// The controller was reset or removed, and is not scanning.
        case reset
    }

    enum Action: Equatable {
        case start(ScanSettings)
        case stop
        /// Start a timer with ``ScannerMachine/retryDelay``.
        case startRetry
        /// The scan has started.
        case reportStarted
        /// The scan failed and was discarded.
        case reportFailed(GAPError)
        /// The scan has reached its time limit, and nothing is wanted any more.
        case reportEnded
        /// Scanning is off, and stays off until the pause ends.
        case reportPaused
    }

    /// The delay before a retry when the controller was unable to scan.
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

    /// Called when the controller is not scanning; starts what is wanted.
    private mutating func ended() -> [Action] {
        guard let wanted, !isPaused else {
            state = .off
            return isPaused ? [.reportPaused] : []
        }
        state = .starting(wanted)
        return [.start(wanted)]
    }
}
