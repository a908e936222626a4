import BluetoothTypes
import DequeModule
import L2CAP

/// What the peer started: one request is being answered, others wait (Core Vol 3 Part F 3.3.2). A peer that keeps to
/// the specification never lets one wait; one that does not is answered in order up to a bound (AB-A06).
struct ATTServerQueue {
    /// A request, and the moment at which it began to arrive.
    struct Request {
        let pdu: PacketBuffer
        let moment: LinkMoment
    }

    /// What becomes of a request that arrives.
    enum Admission {
        /// It is to be answered, under the given number.
        case serve(Request, turn: UInt64)
        /// It waits.
        case waits
        /// Too many wait.
        case overflow
    }

    let maximumWaiting: Int
    private var waiting = Deque<Request>()
    private var turn: UInt64 = 0
    private var isServing = false

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

    mutating func add(_ request: Request) -> Admission {
        if isServing {
            guard waiting.count < maximumWaiting else { return .overflow }
            waiting.append(request)
            return .waits
        }
        return serve(request)
    }

    /// Ends turn number `turn`; false when it is over already, so that nothing is answered twice.
    mutating func finish(turn: UInt64) -> Bool {
        guard isServing, turn == self.turn else { return false }
        isServing = false
        return true
    }

    /// The request that waits longest, unless one is being answered.
    mutating func next() -> Admission? {
        guard !isServing, let request = waiting.popFirst() else { return nil }
        return serve(request)
    }

    mutating func removeAll() {
        waiting = []
        isServing = false
    }

    private mutating func serve(_ request: Request) -> Admission {
        isServing = true
        turn &+= 1
        return .serve(request, turn: turn)
    }
}
