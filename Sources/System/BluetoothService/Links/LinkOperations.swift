import DequeModule
import ServiceMessages

/// Queues the procedures that apps and the system request on one link. A discovery that several apps request is sent
/// once, and the parts of two long writes do not mix. Procedures start in the order of the requests and their outcomes
/// are reported in that order, however many bearers the link has (behaviours 4.19, 5.22).
///
/// A procedure that changes something at the peer, or that others depend on, is exclusive: it starts when all earlier
/// ones have ended, and no other starts before its end. Procedures that only read one attribute each may run
/// concurrently, as far as there are bearers.
final class LinkOperations {
    /// Starts a procedure, which calls `done` when it has ended.
    typealias Procedure = (_ done: @escaping () -> Void) -> Void
    /// Starts a procedure that was requested by a manager, and passes `finish` the event to report, if any.
    typealias AskedProcedure = (_ finish: @escaping (PeerEvent?) -> Void) -> Void

    private final class Operation {
        /// The attribute that it reads without changing anything; nil if it is exclusive.
        let attribute: AttributeHandle?
        let asker: Asker?
        let procedure: AskedProcedure
        var hasEnded = false
        var outcome: PeerEvent?

        init(_ attribute: AttributeHandle?, _ asker: Asker?, _ procedure: @escaping AskedProcedure) {
            self.attribute = attribute
            self.asker = asker
            self.procedure = procedure
        }
    }

    /// The number of operations that may run concurrently at this moment.
    var width: () -> Int = { 1 }
    /// Whether outcomes are no longer reported: once the attribute protocol has ended, only the disconnection is
    /// (behaviour 3.39).
    var isOver: () -> Bool = { false }

    private var waiting = Deque<Operation>()
    /// The number of waiting operations per app.
    private var counts: [AppIdentity: Int] = [:]
    /// Operations that have started and have not been reported yet, in the order of the requests.
    private var begun = Deque<Operation>()
    private var isAdvancing = false
    private var isClosed = false

    /// Adds an exclusive procedure. Returns false if the queue is full or the link is gone.
    func add(_ procedure: @escaping Procedure) -> Bool {
        add(lookingAt: nil, for: nil) { finish in procedure { finish(nil) } }
    }

    /// Adds a procedure whose outcome is reported to `asker`. It may run beside others if it only reads `attribute`;
    /// without an attribute it is exclusive. Returns false if the queue is full or the link is gone.
    func add(lookingAt attribute: AttributeHandle?, for asker: Asker?, _ procedure: @escaping AskedProcedure) -> Bool {
        guard !isClosed, hasRoom(for: asker?.user.app) else { return false }
        waiting.append(Operation(attribute, asker, procedure))
        if let app = asker?.user.app { counts[app, default: 0] += 1 }
        advance()
        return true
    }

    /// Each app has a share of the queue (AB-G05). Requests of the system may use all of it.
    private func hasRoom(for app: AppIdentity?) -> Bool {
        guard waiting.count < ServiceLimits.linkRequests.total else { return false }
        guard let app else { return true }
        return ServiceLimits.linkRequests.room(for: app, beside: counts.lazy.map { (app: $0, count: $1) }).count > 0
    }

    private func removeNext() {
        guard let app = waiting.removeFirst().asker?.user.app, let count = counts[app] else { return }
        counts[app] = count > 1 ? count - 1 : nil
    }

    /// Reports outcomes that are held back behind earlier operations, because a newer event of `attribute`, or of all
    /// attributes, is about to be reported.
    func reportKnownOutcomes(of attribute: AttributeHandle? = nil) {
        guard begun.count > 1, !isOver() else { return }
        for operation in begun where attribute == nil || operation.attribute == attribute {
            if let outcome = operation.outcome.take() { operation.asker?.answer(outcome) }
        }
    }

    /// Drops the waiting operations. Running ones end by themselves.
    func close() {
        isClosed = true
        waiting.removeAll()
        counts = [:]
    }

    /// Whether a procedure is running or waiting.
    var isBusy: Bool { !begun.isEmpty || !waiting.isEmpty }

    /// The managers whose requests are running.
    var askingUsers: [Attachment] { begun.filter { !$0.hasEnded }.compactMap(\.asker?.user) }
    var askers: [AppIdentity] { askingUsers.compactMap(\.app) }

    private func advance() {
        // A loop rather than recursion: procedures that end at once must not grow the stack.
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while true {
            if let first = begun.first, first.hasEnded {
                begun.removeFirst()
                if let outcome = first.outcome.take(), !isOver() { first.asker?.answer(outcome) }
            } else if let next = waiting.first, mayBegin(next) {
                removeNext()
                begin(next)
            } else {
                assert(brokenInvariant == nil, brokenInvariant ?? "")
                return
            }
        }
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds when nothing more can begin.
    private var brokenInvariant: String? {
        guard counts.values.reduce(0, +) <= waiting.count else { return "the counts of requests do not add up" }
        guard !isClosed || waiting.isEmpty else { return "a request waits for a link that has ended" }
        guard waiting.isEmpty || !begun.isEmpty else { return "a request waits for none" }
        return begun.count == 1 || begun.allSatisfy { $0.attribute != nil }
            ? nil : "an exclusive procedure is not alone"
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
