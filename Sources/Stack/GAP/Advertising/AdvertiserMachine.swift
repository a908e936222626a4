import HCI
import HCIHost

/// The state machine of one advertising set.
///
/// It keeps the wanted advertisement going through changes of the data, through connections, which end advertising
/// (Core Vol 6 Part B 4.4.2.3), and from the fast interval to the slow one.
struct AdvertiserMachine {
    enum Event {
        /// The wanted advertisement changed; nil to stop.
        case want(AdvertisingConfiguration?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        /// The controller stopped by itself, usually because a central connected.
        case terminated(AdvertisingEnd)
        /// A link ended or the retry delay passed, so that the controller may be able to advertise.
        case tryAgain
        case fastPhaseOver
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
        /// Start the timer of the fast phase, or restart it.
        case startTimers(AdvertisingConfiguration)
        case endTimers
        /// Start a timer with ``AdvertiserMachine/retryDelay``.
        case startRetry
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

    private var activity = RadioActivity<AdvertisingConfiguration>()
    private var phase = AdvertisingTempo.Phase.fast

    var state: RadioActivity<AdvertisingConfiguration>.State { activity.state }
    var wanted: AdvertisingConfiguration? { activity.wanted }
    var isPaused: Bool { activity.isPaused }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(activity.brokenInvariant == nil, activity.brokenInvariant ?? "") }
        return switch event {
        case .want(let advertisement): want(advertisement)
        case .started: actions(activity.started())
        case .failed(let error, let isPassing): actions(activity.failed(isPassing: isPassing), error)
        case .stopped: actions(activity.stopped())
        case .terminated(let end): terminated(end)
        case .tryAgain: actions(activity.retry())
        case .fastPhaseOver: fastPhaseOver()
        case .addressExpired: wanted == nil ? [] : actions(activity.restart())
        case .pause: actions(activity.pause())
        case .resume: actions(activity.resume())
        case .reset: reset()
        }
    }

    private mutating func want(_ advertisement: AdvertisingConfiguration?) -> [Action] {
        guard advertisement != wanted else {
            if case .running(wanted) = state { return [.reportStarted] }
            return state == .blocked ? [.reportStarted] : []
        }
        // Changed data with the same timing continues in the current phase.
        let isNew = wanted?.tempo != advertisement?.tempo
        var timers: [Action] = []
        if let advertisement, isNew {
            phase = .fast
            timers = [.startTimers(advertisement)]
        } else if advertisement == nil {
            timers = [.endTimers]
        }
        return timers + actions(activity.want(advertisement))
    }

    private mutating func terminated(_ end: AdvertisingEnd) -> [Action] {
        let goesOn = wanted.map { end == .connected && $0.outlastsConnections } ?? false
        switch state {
        case .running(let advertisement):
            // The connection may belong to an advertisement that is no longer wanted.
            guard wanted == advertisement, !goesOn else { return actions(activity.next()) }
            activity.finish()
            return [.endTimers, .reportEnded(end)]
        case .stopping where wanted != nil && !goesOn:
            // The set was about to restart, for instance for its slow phase, and ended meanwhile.
            activity.discard()
            return [.endTimers, .reportEnded(end)]
        case .off, .starting, .stopping, .blocked: return []
        }
    }

    private mutating func fastPhaseOver() -> [Action] {
        guard let wanted, wanted.tempo.slow != nil, phase == .fast else { return [] }
        phase = .slow
        return actions(activity.restart())
    }

    private mutating func reset() -> [Action] {
        activity = RadioActivity()
        phase = .fast
        return [.endTimers]
    }

    private func actions(
        _ steps: [RadioActivity<AdvertisingConfiguration>.Step],
        _ error: GAPError? = nil
    ) -> [Action] {
        steps.flatMap { step -> [Action] in
            switch step {
            case .start(let advertisement): [.start(advertisement, phase)]
            case .stop: [.stop]
            case .started: [.reportStarted]
            // The failure is not reported: advertising starts when the controller has room (behaviour 7.26).
            case .blocked: [.startRetry, .reportStarted]
            case .failed: [.endTimers] + (error.map { [.reportFailed($0)] } ?? [])
            case .paused: [.reportPaused]
            }
        }
    }
}

/// The reason why advertising ended by itself.
package enum AdvertisingEnd: Hashable, Sendable {
    case connected
    /// The controller has ended it without a connection.
    case timeOver
}
