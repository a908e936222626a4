import EventLoops
import ServiceMessages

/// The backoff for launches of an app whose processes keep ending early. The launch after the first early end is
/// immediate. After each further one a pause precedes it, which doubles every time (behaviour 10.25). Only the launch
/// is delayed; the preserved state stays. Performs no I/O.
struct LaunchBackoff: Equatable {
    enum Event: Equatable {
        case wanted
        /// The launched process could not be started, or ended before it connected.
        case launchFailed
        /// A process ended by itself after it had run for this long.
        case processEnded(after: Duration)
        case pauseEnded
    }

    enum Action: Equatable {
        case launch
        /// Replaces a running pause.
        case startPause(Duration)
    }

    private enum State: Equatable {
        case ready
        case pausing(isWanted: Bool)
    }

    /// A process that ends by itself before this time has ended early. One that runs longer clears the count.
    static let minimumRun = AppLifecycle.wakeTime
    /// The pause after the second consecutive early end.
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(600)
    private static let maximumEarlyEnds = 1_000

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
        let pause = Duration.backoff(first: Self.firstPause, doublings: earlyEnds - 2, longest: Self.longestPause)
        return [.startPause(pause)]
    }
}
