import EventLoops

/// The last times of an operation, which is polling if there are too many within a minute (12.6, 12.17).
struct RecentTimes: Sendable {
    private var times: [Instant] = []

    /// Adds a time, and returns whether polling is found with it. Then it counts anew.
    mutating func add(_ now: Instant) -> Bool {
        times.removeAll { now - $0 > AdviceThresholds.polling }
        times.append(now)
        guard times.count >= AdviceThresholds.polls else { return false }
        times = []
        return true
    }
}
