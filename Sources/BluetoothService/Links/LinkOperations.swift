import DequeModule

/// The attribute procedures of one link, one after the other: discovery that several apps ask for goes on the air once, two
/// long writes do not mix their parts, and answers come in the order of asking (behaviours 4.19, 5.22).
final class LinkOperations {
    /// Procedures that may wait on one link (AB-G05).
    static let maximumWaiting = 1_024

    /// Starts a procedure, and calls what it is given when that has ended.
    typealias Procedure = (_ done: @escaping () -> Void) -> Void

    private var waiting = Deque<Procedure>()
    private var isBusy = false
    private var isStarting = false
    private var isClosed = false

    /// Adds a procedure; false when there is no room, or the link is gone.
    func add(_ procedure: @escaping Procedure) -> Bool {
        guard !isClosed, waiting.count < Self.maximumWaiting else { return false }
        waiting.append(procedure)
        next()
        return true
    }

    /// Forgets what waits. What is under way ends by itself.
    func close() {
        isClosed = true
        waiting.removeAll()
    }

    private func next() {
        // A loop and no recursion: procedures that end at once must not pile up on the stack.
        guard !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        while !isBusy, let procedure = waiting.popFirst() {
            isBusy = true
            var hasEnded = false
            procedure { [weak self] in
                guard let self, !hasEnded else { return }
                hasEnded = true
                isBusy = false
                next()
            }
        }
    }
}
