import EventLoops

/// The backoff procedure of active scanning, which reduces scan requests when they collide with those of other scanners
/// (Core Vol 6 Part B 4.4.3.2).
struct ScanBackoff: Hashable {
    /// The maximum of upperLimit.
    static let maximumLimit: UInt64 = 256

    private var upperLimit: UInt64 = 1
    private var count: UInt64 = 1
    private var failures = 0
    private var successes = 0

    /// Counts a scannable PDU. Returns whether to send a scan request.
    mutating func mayRequest() -> Bool {
        if count > 0 { count -= 1 }
        return count == 0
    }

    /// Records whether a scan request was answered.
    mutating func requested(answered: Bool, _ random: RandomSource) {
        if answered {
            failures = 0
            successes += 1
            if successes == 2 {
                successes = 0
                upperLimit = max(upperLimit / 2, 1)
            }
        } else {
            successes = 0
            failures += 1
            if failures == 2 {
                failures = 0
                upperLimit = min(upperLimit * 2, Self.maximumLimit)
            }
        }
        count = 1 + random.below(upperLimit)
    }
}
