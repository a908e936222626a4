import BluetoothTypes
import DequeModule

/// What the peer started: one request is being answered, others wait (Core Vol 3 Part F 3.3.2). A peer that keeps to
/// the specification never lets one wait; one that does not is answered in order up to a bound (AB-A06).
struct ATTServerQueue {
    /// What becomes of a request that arrives.
    enum Admission {
        /// It is to be answered, under the given number.
        case serve(PacketBuffer, turn: UInt64)
        /// It waits.
        case waits
        /// Too many wait.
        case overflow
    }

    let maximumWaiting: Int
    private var waiting = Deque<PacketBuffer>()
    private var turn: UInt64 = 0
    private var isServing = false

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

    mutating func add(_ request: PacketBuffer) -> Admission {
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

    private mutating func serve(_ request: PacketBuffer) -> Admission {
        isServing = true
        turn &+= 1
        return .serve(request, turn: turn)
    }
}
