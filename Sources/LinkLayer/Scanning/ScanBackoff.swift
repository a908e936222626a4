import EventLoops

/// How an active scanner holds back when its requests are not answered, because others ask at the same time (Core Vol 6
/// Part B 4.4.3.2).
struct ScanBackoff: Hashable {
    /// upperLimit never becomes more than this.
    static let maximumLimit: UInt64 = 256

    private var upperLimit: UInt64 = 1
    private var count: UInt64 = 1
    private var failures = 0
    private var successes = 0

    /// A scannable PDU has come: whether to ask now.
    mutating func mayRequest() -> Bool {
        if count > 0 { count -= 1 }
        return count == 0
    }

    /// A request was answered, or was not.
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
