/// Credits that an app gets back together: one that sends as fast as it may is woken once for many values, and sends many then.
struct CreditBatch {
    /// How many credits the app has in all.
    let limit: Int
    private var due = 0
    /// How many the app has spent and not got back.
    private var spent = 0
    /// Whether somebody has been told to take them.
    private var isAnnounced = false

    init(limit: Int) { self.limit = limit }

    /// The app has spent one.
    mutating func spend() { spent = min(spent + 1, limit) }

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

    /// The credits that the app is to get back, and whether it has none and so waits for them. Nothing is due afterwards.
    mutating func take() -> (count: Int, isAwaited: Bool) {
        let taken = (count: due, isAwaited: spent >= limit)
        spent = max(0, spent - due)
        (due, isAnnounced) = (0, false)
        return taken
    }

    /// Forgets all, for a process that begins with all credits.
    mutating func reset() { self = CreditBatch(limit: limit) }
}
