import BluetoothTypes
import DequeModule
import EventLoops
import L2CAP

/// The deadline and the starting moment of a transaction.
struct TransactionStart {
    let deadline: Instant
    /// The moment at which the transaction started. A valid answer begins to arrive later than this.
    let moment: LinkMoment
}

/// The transactions that this side starts: one outstanding, the others queued in order (Core Vol 3 Part F 3.3.2).
///
/// Client requests form one such queue, server indications another.
struct ATTTransactionQueue<Waiter> {
    /// The decision about a new transaction.
    enum Admission {
        case send(PacketBuffer)
        case waits
        case full
    }

    let maximumWaiting: Int
    // The outstanding PDU is not retained: the sender must hold the only reference, so that headers go into its
    // headroom.
    private(set) var current: (waiter: Waiter, start: TransactionStart)?
    private var waiting = Deque<(pdu: PacketBuffer, waiter: Waiter)>()

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

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

    /// Ends the outstanding transaction and starts the next one, whose PDU the caller must send.
    mutating func finish(nextStart: TransactionStart) -> (finished: Waiter?, next: PacketBuffer?) {
        let finished = current?.waiter
        guard let next = waiting.popFirst() else {
            current = nil
            return (finished, nil)
        }
        current = (next.waiter, nextStart)
        return (finished, next.pdu)
    }

    var isEmpty: Bool { current == nil && waiting.isEmpty }

    var brokenInvariant: String? {
        guard waiting.count <= maximumWaiting else { return "too many transactions wait" }
        return current != nil || waiting.isEmpty ? nil : "a transaction waits for none"
    }

    /// Removes all transactions and returns their waiters in order.
    mutating func removeAll() -> [Waiter] {
        defer {
            current = nil
            waiting = []
        }
        return [current?.waiter].compactMap(\.self) + waiting.map(\.waiter)
    }
}
