import DequeModule

/// The procedures of one link that apps and the system ask for: discovery that several apps ask for goes on the air once, and
/// two long writes do not mix their parts. They begin in the order of asking, and what comes of them is told in that order,
/// however many bearers the link has (behaviours 4.19, 5.22).
///
/// One that changes something at the peer, or on which others depend, stands alone: whatever was asked for before has ended,
/// and nothing begins beside it. Those that only look at one attribute each may go side by side, as far as there is room.
final class LinkOperations {
    /// Starts a procedure, and calls what it is given when that has ended.
    typealias Procedure = (_ done: @escaping () -> Void) -> Void
    /// The same for one that somebody asked for: it hands over what they are to be told, if anything.
    typealias AskedProcedure = (_ finish: @escaping (PeerEvent?) -> Void) -> Void

    private final class Operation {
        /// The attribute that it looks at and changes nothing of; nil for one that stands alone.
        let attribute: AttributeHandle?
        let asker: Asker?
        let procedure: AskedProcedure
        var hasEnded = false
        /// What is to be told when all before it has been.
        var outcome: PeerEvent?

        init(_ attribute: AttributeHandle?, _ asker: Asker?, _ procedure: @escaping AskedProcedure) {
            self.attribute = attribute
            self.asker = asker
            self.procedure = procedure
        }
    }

    /// How many may go side by side now.
    var width: () -> Int = { 1 }
    /// Whether nobody is told anything any more: with the attribute protocol all is over, and the disconnection says so
    /// (behaviour 3.39).
    var isOver: () -> Bool = { false }

    private var waiting = Deque<Operation>()
    /// How many of those that wait each app has asked for.
    private var counts: [AppIdentity: Int] = [:]
    /// Those that have begun and were not told of, in the order of asking.
    private var begun = Deque<Operation>()
    private var isAdvancing = false
    private var isClosed = false

    /// Adds a procedure that stands alone; false when there is no room, or the link is gone.
    func add(_ procedure: @escaping Procedure) -> Bool {
        add(lookingAt: nil, for: nil) { finish in procedure { finish(nil) } }
    }

    /// Adds a procedure for somebody who is told what comes of it. One that looks at `attribute` alone may have others beside
    /// it; one without stands alone. False when there is no room, or the link is gone.
    func add(lookingAt attribute: AttributeHandle?, for asker: Asker?, _ procedure: @escaping AskedProcedure) -> Bool {
        guard !isClosed, hasRoom(for: asker?.user.app) else { return false }
        waiting.append(Operation(attribute, asker, procedure))
        if let app = asker?.user.app { counts[app, default: 0] += 1 }
        advance()
        return true
    }

    /// Each app has a share of what may wait (AB-G05). What the system asks for itself has all the room there is.
    private func hasRoom(for app: AppIdentity?) -> Bool {
        guard waiting.count < ServiceLimits.linkRequests.total else { return false }
        guard let app else { return true }
        return ServiceLimits.linkRequests.room(for: app, beside: counts.lazy.map { (app: $0, count: $1) }).count > 0
    }

    private func takeNext() {
        guard let app = waiting.removeFirst().asker?.user.app, let count = counts[app] else { return }
        counts[app] = count > 1 ? count - 1 : nil
    }

    /// Something newer is about to be told of `attribute`, or of all: what has come of it before goes first, whoever else is
    /// still waited for.
    func tellWhatIsKnown(of attribute: AttributeHandle? = nil) {
        guard begun.count > 1, !isOver() else { return }
        for operation in begun where attribute == nil || operation.attribute == attribute {
            if let outcome = operation.outcome.take() { operation.asker?.answer(outcome) }
        }
    }

    /// Forgets what waits. What is under way ends by itself.
    func close() {
        isClosed = true
        waiting.removeAll()
        counts = [:]
    }

    private func advance() {
        // A loop and no recursion: procedures that end at once must not pile up on the stack.
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while true {
            if let first = begun.first, first.hasEnded {
                begun.removeFirst()
                if let outcome = first.outcome.take(), !isOver() { first.asker?.answer(outcome) }
            } else if let next = waiting.first, mayBegin(next) {
                takeNext()
                begin(next)
            } else {
                return
            }
        }
    }

    private func begin(_ operation: Operation) {
        begun.append(operation)
        operation.procedure { [weak self] outcome in
            guard !operation.hasEnded else { return }
            operation.hasEnded = true
            operation.outcome = outcome
            self?.advance()
        }
    }

    private func mayBegin(_ operation: Operation) -> Bool {
        guard !begun.isEmpty else { return true }
        guard let attribute = operation.attribute, begun.count < width() else { return false }
        return begun.allSatisfy { $0.attribute != nil && $0.attribute != attribute }
    }
}
