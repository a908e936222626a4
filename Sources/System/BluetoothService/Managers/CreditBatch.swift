/// Batches the credits that return to an app. An app that sends as fast as it can is woken once for many values, and
/// then sends many.
struct CreditBatch {
    let limit: Int
    private var due = 0
    /// The number of credits that the app has spent and not received back.
    private var spent = 0
    /// Whether the caller has been told to `take` the credits.
    private var isAnnounced = false

    init(limit: Int) { self.limit = limit }

    mutating func spend() { spent = min(spent + 1, limit) }

    /// Adds credits.
    ///
    /// - Parameter waiting: The number of values of the app that still wait. Each will return a credit.
    /// - Returns: Whether the caller is to `take` what is due after everything else that is due now has run.
    mutating func add(_ count: Int, waiting: Int) -> Bool {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        due += count
        guard !isAnnounced, waiting == 0 || 2 * due >= limit else { return false }
        isAnnounced = true
        return true
    }

    /// Removes and returns the credits that are due, and whether the app has none and therefore waits for them.
    mutating func take() -> (count: Int, isAwaited: Bool) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let taken = (count: due, isAwaited: spent >= limit)
        spent = max(0, spent - due)
        (due, isAnnounced) = (0, false)
        return taken
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds when credits return.
    private var brokenInvariant: String? {
        guard (0...limit).contains(spent), due >= 0 else { return "more credits are spent than there are" }
        return !isAnnounced || due > 0 ? nil : "credits are announced of which none are due"
    }

    /// Starts over, for a process that begins with all credits.
    mutating func reset() { self = CreditBatch(limit: limit) }
}
