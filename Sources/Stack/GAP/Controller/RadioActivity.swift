/// An activity of the controller that one sequence of commands starts and another one stops, never two at a time: what
/// the machines of the scanner and of an advertising set have in common.
///
/// Requests and the results of commands go in, and steps come out.
struct RadioActivity<Content: Equatable> {
    enum State: Equatable {
        case off
        /// The start commands are in progress. ``RadioActivity/wanted`` has later requests.
        case starting(Content)
        case running(Content)
        case stopping
        /// The controller was unable to start for a passing reason. Retried later.
        case blocked
    }

    enum Step: Equatable {
        case start(Content)
        case stop
        case started
        /// The controller cannot start the wanted content at present; a retry is due later.
        case blocked
        /// The wanted content failed and was discarded.
        case failed
        /// The activity is off, and stays off until the pause ends.
        case paused
    }

    private(set) var state = State.off
    private(set) var wanted: Content?
    private(set) var isPaused = false

    var brokenInvariant: String? {
        switch state {
        case .off: wanted == nil || isPaused ? nil : "what is wanted is not started"
        case .running: isPaused ? "the activity runs during a pause" : nil
        case .starting, .stopping, .blocked: nil
        }
    }

    /// Replaces the wanted content; nil to stop.
    mutating func want(_ content: Content?) -> [Step] {
        wanted = content
        switch state {
        case .off, .blocked: return isPaused ? [] : next()
        case .running: return stop()
        case .starting, .stopping: return []
        }
    }

    /// Discards the wanted content without stopping it.
    mutating func discard() { wanted = nil }

    /// Discards the wanted content, which has ended by itself.
    mutating func finish() { (state, wanted) = (.off, nil) }

    /// Stops, and starts what is wanted.
    mutating func restart() -> [Step] {
        guard case .running = state else { return [] }
        return stop()
    }

    /// Stops what is running, and starts nothing until ``resume()``.
    mutating func pause() -> [Step] {
        isPaused = true
        switch state {
        case .off, .blocked: return [.paused]
        case .running: return stop()
        case .starting, .stopping: return []
        }
    }

    /// Starts what is wanted after a pause.
    mutating func resume() -> [Step] {
        isPaused = false
        return state == .off || state == .blocked ? next() : []
    }

    private mutating func stop() -> [Step] {
        state = .stopping
        return [.stop]
    }
}

// MARK: - Results of commands

extension RadioActivity {
    mutating func started() -> [Step] {
        guard case .starting(let content) = state else { return [] }
        state = .running(content)
        guard wanted == content else { return stop() }
        return [.started] + (isPaused ? stop() : [])
    }

    /// Handles the failure of the start commands, which the controller may accept later if `isPassing`.
    mutating func failed(isPassing: Bool) -> [Step] {
        guard case .starting(let content) = state else { return [] }
        guard wanted == content else { return next() }
        let paused: [Step] = isPaused ? [.paused] : []
        if isPassing {
            state = .blocked
            return [.blocked] + paused
        }
        finish()
        return [.failed] + paused
    }

    mutating func stopped() -> [Step] { state == .stopping ? next() : [] }

    /// Tries again what the controller was unable to start.
    mutating func retry() -> [Step] { state == .blocked && !isPaused ? next() : [] }

    /// Starts what is wanted, now that the controller has nothing running.
    mutating func next() -> [Step] {
        guard let wanted, !isPaused else {
            state = .off
            return isPaused ? [.paused] : []
        }
        state = .starting(wanted)
        return [.start(wanted)]
    }
}
