import EventLoops

/// Notices that a controller hears nothing at all, which may be since nobody is there, or since it does not scan though it says
/// so (quirks 5, 7). Each time that nothing came of trying something else it waits longer.
struct ScanWatch {
    /// How long a scan for everybody hears nobody before something else is tried.
    static let firstPause = Duration.seconds(10)
    /// The longest that it waits. Each time it is six times as long as before.
    static let longestPause = Duration.seconds(3_600)

    /// Whether anything has been heard.
    private(set) var hasHeard = false
    private var trials = 0

    mutating func heard() { hasHeard = true }

    mutating func listensAnew() { hasHeard = false }

    /// A scan begins: how long to wait; nil when there is nothing to find out.
    func begin() -> Duration? {
        guard !hasHeard else { return nil }
        // There and back again are one trial.
        return (0..<(trials / 2)).reduce(Self.firstPause) { pause, _ in min(pause * 6, Self.longestPause) }
    }

    /// The time is over: whether to try something else.
    mutating func expire() -> Bool {
        guard !hasHeard else { return false }
        trials = min(trials + 1, 64)
        return true
    }
}
