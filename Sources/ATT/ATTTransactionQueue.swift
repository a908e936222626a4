import BluetoothTypes
import DequeModule
import EventLoops
import L2CAP

/// When a transaction was begun.
struct TransactionStart {
    /// When it has failed.
    let deadline: Instant
    /// What answers it begins to arrive later than this.
    let moment: LinkMoment
}

/// What one end started: one transaction under way, others waiting behind it in order (Core Vol 3 Part F 3.3.2).
/// Requests of a client are one such queue, indications of a server another.
struct ATTTransactionQueue<Waiter> {
    /// What became of a new transaction.
    enum Admission {
        /// The PDU is to be sent now.
        case send(PacketBuffer)
        /// It waits for those before it.
        case waits
        /// Too many wait.
        case full
    }

    /// Most transactions that wait.
    let maximumWaiting: Int
    // The PDU under way is not kept: whoever sends it is to be its only holder, so that headers go into its headroom.
    private(set) var current: (waiter: Waiter, start: TransactionStart)?
    private var waiting = Deque<(pdu: PacketBuffer, waiter: Waiter)>()

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

    /// Whether another transaction would be admitted.
    var hasRoom: Bool { current == nil || waiting.count < maximumWaiting }

    mutating func add(_ pdu: consuming PacketBuffer, _ waiter: Waiter, start: TransactionStart) -> Admission {
        guard current != nil else {
            current = (waiter, start)
            return .send(pdu)
        }
        guard waiting.count < maximumWaiting else { return .full }
        waiting.append((pdu, waiter))
        return .waits
    }

    /// Ends the transaction under way and begins the next, whose PDU is to be sent.
    mutating func finish(nextStart: TransactionStart) -> (finished: Waiter?, next: PacketBuffer?) {
        let finished = current?.waiter
        guard let next = waiting.popFirst() else {
            current = nil
            return (finished, nil)
        }
        current = (next.waiter, nextStart)
        return (finished, next.pdu)
    }

    /// Ends everything, in order.
    mutating func removeAll() -> [Waiter] {
        defer {
            current = nil
            waiting = []
        }
        return [current?.waiter].compactMap(\.self) + waiting.map(\.waiter)
    }
}
