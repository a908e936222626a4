import DequeModule

/// The procedures of one link that apps and the system ask for: discovery that several apps ask for goes on the air once, and
/// two long writes do not mix their parts. They begin in the order of asking, and what comes of them is told in that order,
/// however many bearers the link has (behaviours 4.19, 5.22).
///
/// One that changes something at the peer, or on which others depend, stands alone: whatever was asked for before has ended,
/// and nothing begins beside it. Those that only look at one attribute each may go side by side, as far as there is room.
final class LinkOperations {
    /// Procedures that may wait on one link (AB-G05).
    static let maximumWaiting = 1_024

    /// Starts a procedure, and calls what it is given when that has ended.
    typealias Procedure = (_ done: @escaping () -> Void) -> Void
    /// The same for one that has something to tell: it hands over how it is told, once its turn has come.
    typealias TellingProcedure = (_ done: @escaping (_ tell: @escaping () -> Void) -> Void) -> Void

    private final class Operation {
        /// The attribute that it looks at and changes nothing of; nil for one that stands alone.
        let attribute: AttributeHandle?
        let procedure: TellingProcedure
        var hasEnded = false
        /// What is to be told when all before it has been.
        var tell: (() -> Void)?

        init(_ attribute: AttributeHandle?, _ procedure: @escaping TellingProcedure) {
            self.attribute = attribute
            self.procedure = procedure
        }

        func tellOnce() {
            let tell = tell
            self.tell = nil
            tell?()
        }
    }

    /// How many may go side by side now.
    var width: () -> Int = { 1 }

    private var waiting = Deque<Operation>()
    /// Those that have begun and were not told of, in the order of asking.
    private var begun = Deque<Operation>()
    private var isAdvancing = false
    private var isClosed = false

    /// Adds a procedure that stands alone; false when there is no room, or the link is gone.
    func add(_ procedure: @escaping Procedure) -> Bool {
        add(lookingAt: nil) { done in procedure { done {} } }
    }

    /// Adds a procedure that looks at `attribute` alone, beside which others may go; nil for one that stands alone. False when
    /// there is no room, or the link is gone.
    func add(lookingAt attribute: AttributeHandle?, _ procedure: @escaping TellingProcedure) -> Bool {
        guard !isClosed, waiting.count < Self.maximumWaiting else { return false }
        waiting.append(Operation(attribute, procedure))
        advance()
        return true
    }

    /// Something newer is about to be told of `attribute`, or of all: what has come of it before goes first, whoever else is
    /// still waited for.
    func tellWhatIsKnown(of attribute: AttributeHandle? = nil) {
        guard begun.count > 1 else { return }
        for operation in begun where attribute == nil || operation.attribute == attribute { operation.tellOnce() }
    }

    /// Forgets what waits. What is under way ends by itself.
    func close() {
        isClosed = true
        waiting.removeAll()
    }

    private func advance() {
        // A loop and no recursion: procedures that end at once must not pile up on the stack.
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while true {
            if let first = begun.first, first.hasEnded {
                begun.removeFirst()
                first.tellOnce()
            } else if let next = waiting.first, mayBegin(next) {
                waiting.removeFirst()
                begin(next)
            } else {
                return
            }
        }
    }

    private func begin(_ operation: Operation) {
        begun.append(operation)
        operation.procedure { [weak self] tell in
            guard !operation.hasEnded else { return }
            operation.hasEnded = true
            operation.tell = tell
            self?.advance()
        }
    }

    private func mayBegin(_ operation: Operation) -> Bool {
        guard !begun.isEmpty else { return true }
        guard let attribute = operation.attribute, begun.count < width() else { return false }
        return begun.allSatisfy { $0.attribute != nil && $0.attribute != attribute }
    }
}
