import BluetoothTypes
import DequeModule
import L2CAP

/// The peer's requests: one being answered, the others queued (Core Vol 3 Part F 3.3.2).
///
/// A conforming peer never queues a request. Requests of a peer that does are answered in order, up to a limit
/// (AB-A06).
struct ATTServerQueue {
    /// A request and the moment at which it began to arrive.
    typealias Request = (pdu: PacketBuffer, moment: LinkMoment)

    let maximumWaiting: Int
    private var waiting = Deque<Request>()
    private var turn: UInt64 = 0
    private var isServing = false

    init(maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
    }

    /// Queues a request. Returns false if the queue is full.
    mutating func add(_ request: Request) -> Bool {
        guard !isServing || waiting.count < maximumWaiting else { return false }
        waiting.append(request)
        return true
    }

    /// Ends the given turn. Returns false if it has already ended, so that no request is answered twice.
    mutating func finish(turn: UInt64) -> Bool {
        guard isServing, turn == self.turn else { return false }
        isServing = false
        return true
    }

    /// Removes the oldest request, to be answered in the given turn; nil while another one is being answered.
    mutating func next() -> (request: Request, turn: UInt64)? {
        guard !isServing, let request = waiting.popFirst() else { return nil }
        isServing = true
        turn &+= 1
        return (request, turn)
    }

    var isEmpty: Bool { !isServing && waiting.isEmpty }

    var brokenInvariant: String? {
        guard waiting.count <= maximumWaiting else { return "too many requests of the peer wait" }
        return isServing || waiting.isEmpty ? nil : "a request of the peer waits for none"
    }

    mutating func removeAll() {
        waiting = []
        isServing = false
    }
}

/// The response to one request of the peer, sent at once or later.
///
/// Only the first response is sent. After the bearer has closed, the methods do nothing.
package struct ATTReply {
    /// The bearer that received the request; nil when it no longer exists.
    package internal(set) weak var bearer: ATTBearer?
    let turn: UInt64
    package let opcode: ATTOpcode
    /// The moment at which the request began to arrive. The request may have been queued since.
    package let moment: LinkMoment

    package var mtu: Int { bearer?.mtu ?? ATTBearer.defaultMTU }

    /// Sends the response. Only the first answer to a request is sent; further ones are dropped.
    package func send(_ response: consuming ATTPDU) {
        bearer?.answer(turn: turn, response.encoded())
    }

    package func fail(_ code: ATTErrorCode, at handle: UInt16 = 0) {
        bearer?.answer(turn: turn, ATTErrorResponse(code, to: opcode, at: handle).framed())
    }
}
