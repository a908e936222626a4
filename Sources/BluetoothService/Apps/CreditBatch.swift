/// Credits that an app gets back together: one that sends as fast as it may is woken once for many values, and sends many then.
struct CreditBatch {
    /// How many credits the app has in all.
    let limit: Int
    private var due = 0
    /// Whether somebody has been told to take them.
    private var isAnnounced = false

    init(limit: Int) { self.limit = limit }

    /// Adds credits.
    ///
    /// - Parameter waiting: how many values of the app wait still: more credits will come of them.
    /// - Returns: whether to `take` what is due once all that is due now has run.
    mutating func add(_ count: Int, waiting: Int) -> Bool {
        due += count
        guard !isAnnounced, waiting == 0 || 2 * due >= limit else { return false }
        isAnnounced = true
        return true
    }

    /// What the app is to get back; nothing is due afterwards.
    mutating func take() -> Int {
        defer { self = CreditBatch(limit: limit) }
        return due
    }
}
