/// Text for times of a world.
enum WorldTime {
    /// Returns a point in time, such as `01:05.000`.
    static func text(_ time: Duration) -> String {
        let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
        let (seconds, minutes) = (milliseconds / 1_000 % 60, milliseconds / 60_000)
        let hours = minutes >= 60 ? "\(minutes / 60):" : ""
        return "\(hours)\(padded(minutes % 60, 2)):\(padded(seconds, 2)).\(padded(milliseconds % 1_000, 3))"
    }

    /// Returns a length of time, such as `30 s` or `0.25 s`.
    static func words(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
