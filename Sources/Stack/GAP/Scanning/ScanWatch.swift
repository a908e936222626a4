import EventLoops

/// Detects a controller that receives nothing, because no device is in range or because it does not scan although it
/// claims to (quirks 5, 7). The time until the next attempt to use other commands grows with each failure.
struct ScanWatch {
    /// The time for which an unfiltered scan receives nothing before other commands are tried.
    static let firstPause = Duration.seconds(10)
    /// The maximum of that time, which grows by a factor of six.
    static let longestPause = Duration.seconds(3_600)

    private(set) var hasReceived = false
    private var trials = 0

    mutating func packetReceived() { hasReceived = true }

    mutating func restartListening() { hasReceived = false }

    /// Called when a scan starts. Returns the time until ``expire()``, or nil if the controller is known to receive.
    func begin() -> Duration? {
        guard !hasReceived else { return nil }
        // Switching the commands and switching back are one trial.
        return (0..<(trials / 2)).reduce(Self.firstPause) { pause, _ in min(pause * 6, Self.longestPause) }
    }

    /// Called when the time has passed. Returns whether to try other commands.
    mutating func expire() -> Bool {
        guard !hasReceived else { return false }
        trials = min(trials + 1, 64)
        return true
    }
}
