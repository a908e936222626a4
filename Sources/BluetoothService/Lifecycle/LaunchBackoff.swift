import EventLoops

/// When an app may be launched again whose processes keep ending early: after the first at once, and then after a pause that doubles with each
/// of them (behaviour 10.25). What is kept of the app stays; only the launch waits. No input or output in here.
struct LaunchBackoff: Equatable {
    enum Event: Equatable {
        /// Something happened that launches the app.
        case wanted
        /// The launched process could not be started, or ended before it connected.
        case launchFailed
        /// A process ended by itself after it had run for some time.
        case processEnded(after: Duration)
        case pauseEnded
    }

    enum Action: Equatable {
        case launch
        /// Takes the place of a pause that runs.
        case startPause(Duration)
    }

    private enum State: Equatable {
        case ready
        case pausing(isWanted: Bool)
    }

    /// A process that ends by itself before that has ended early. One that runs for longer clears the count.
    static let minimumRun = AppLifecycle.wakeTime
    /// The pause after the second process in a row that ends early.
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(600)
    /// Early ends that are counted.
    private static let maximumEarlyEnds = 1_000

    /// Processes in a row that ended early.
    private(set) var earlyEnds = 0
    private var state = State.ready

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.ready, .wanted): return [.launch]
        case (.pausing, .wanted):
            state = .pausing(isWanted: true)
            return []
        case (_, .launchFailed): return endEarly()
        case (_, .processEnded(let time)):
            if time < Self.minimumRun { return endEarly() }
            earlyEnds = 0
            return []
        case (.pausing(let isWanted), .pauseEnded):
            state = .ready
            return isWanted ? [.launch] : []
        case (.ready, .pauseEnded): return []
        }
    }

    private mutating func endEarly() -> [Action] {
        earlyEnds = min(earlyEnds + 1, Self.maximumEarlyEnds)
        guard earlyEnds > 1 else { return [] }
        if case .ready = state { state = .pausing(isWanted: false) }
        return [.startPause(Self.pause(after: earlyEnds))]
    }

    static func pause(after earlyEnds: Int) -> Duration {
        min(firstPause * (1 << min(max(0, earlyEnds - 2), 16)), longestPause)
    }
}
