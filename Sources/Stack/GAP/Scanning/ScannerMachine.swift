/// The state machine that starts and stops the controller's scan, one sequence of commands after the other (Core Vol 4
/// Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65).
struct ScannerMachine {
    enum Event {
        /// The wanted scan changed; nil to stop.
        case want(ScanSettings?)
        case started
        case failed(GAPError, isPassing: Bool)
        case stopped
        case retry
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
        case reportStarted
        /// The scan failed and was discarded.
        case reportFailed(GAPError)
        /// Scanning is off, and stays off until the pause ends.
        case reportPaused
    }

    /// The delay before a retry when the controller was unable to scan.
    static let retryDelay = Duration.seconds(1)

    private var activity = RadioActivity<ScanSettings>()

    var state: RadioActivity<ScanSettings>.State { activity.state }
    var wanted: ScanSettings? { activity.wanted }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(activity.brokenInvariant == nil, activity.brokenInvariant ?? "") }
        return switch event {
        case .want(let settings): settings == wanted ? [] : actions(activity.want(settings))
        case .started: actions(activity.started())
        case .failed(let error, let isPassing): actions(activity.failed(isPassing: isPassing), error)
        case .stopped: actions(activity.stopped())
        case .retry: actions(activity.retry())
        case .pause: actions(activity.pause())
        case .resume: actions(activity.resume())
        case .reset: reset()
        }
    }

    private mutating func reset() -> [Action] {
        activity = RadioActivity()
        return []
    }

    private func actions(_ steps: [RadioActivity<ScanSettings>.Step], _ error: GAPError? = nil) -> [Action] {
        steps.compactMap { step in
            switch step {
            case .start(let settings): .start(settings)
            case .stop: .stop
            case .started: .reportStarted
            case .blocked: .startRetry
            case .failed: error.map { .reportFailed($0) }
            case .paused: .reportPaused
            }
        }
    }
}
