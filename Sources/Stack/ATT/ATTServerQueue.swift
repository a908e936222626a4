import BluetoothTypes
import DequeModule
import L2CAP

/// The peer's requests: one being answered, the others queued (Core Vol 3 Part F 3.3.2).
///
/// A conforming peer never queues a request. Requests of a peer that does are answered in order, up to a limit
/// (AB-A06).
struct ATTServerQueue {
    /// A request and the moment at which it began to arrive.
    struct Request {
        let pdu: PacketBuffer
        let moment: LinkMoment
    }

    /// The decision about an incoming request.
    enum Admission {
        /// Answer it now, under the given turn.
        case serve(Request, turn: UInt64)
        /// The request is queued.
        case waits
        /// The queue is full.
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

    /// Ends the given turn. Returns false if it has already ended, so that no request is answered twice.
    mutating func finish(turn: UInt64) -> Bool {
        guard isServing, turn == self.turn else { return false }
        isServing = false
        return true
    }

    /// Starts serving the oldest queued request, unless one is being answered.
    mutating func next() -> Admission? {
        guard !isServing, let request = waiting.popFirst() else { return nil }
        return serve(request)
    }

    /// Whether there are no requests, being answered or queued.
    var isEmpty: Bool { !isServing && waiting.isEmpty }

    /// The first broken invariant; nil if all hold.
    var brokenInvariant: String? {
        guard waiting.count <= maximumWaiting else { return "too many requests of the peer wait" }
        return isServing || waiting.isEmpty ? nil : "a request of the peer waits for none"
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

/// The response to one request of the peer, sent at once or later.
///
/// Only the first response is sent. After the bearer has closed, the methods do nothing.
package struct ATTReply {
    /// The bearer that received the request; nil when it no longer exists.
    package internal(set) weak var bearer: ATTBearer?
    let turn: UInt64
    /// The opcode of the request.
    package let opcode: ATTOpcode
    /// The moment at which the request began to arrive. The request may have been queued since.
    package let moment: LinkMoment

    /// The MTU of the bearer, which limits the response, in octets.
    package var mtu: Int { bearer?.mtu ?? ATTBearer.defaultMTU }

    /// Sends the response. Only the first answer to a request is sent; further ones are dropped.
    package func send(_ response: consuming ATTPDU) {
        bearer?.answer(turn: turn, response.encoded())
    }

    /// Sends an error response that names `handle`.
    package func fail(_ code: ATTErrorCode, at handle: UInt16 = 0) {
        bearer?.answer(turn: turn, ATTErrorResponse(code, to: opcode, at: handle).framed())
    }
}
