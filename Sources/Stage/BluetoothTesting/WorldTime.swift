import AppAdvice

/// Text for times of a world.
enum WorldTime {
    /// Returns a point in time, such as `01:05.000`.
    static func text(_ time: Duration) -> String { WorldWords.time(time) }

    /// Returns a length of time, such as `30 s` or `0.25 s`.
    static func words(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }
}
