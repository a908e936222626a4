import BluetoothTypes
import L2CAP

/// The one answer that a request of the peer gets, now or later. Only the first counts; after the bearer is closed
/// nothing happens.
public struct ATTReply {
    /// Where the request came in; nil when the bearer is gone.
    public internal(set) weak var bearer: ATTBearer?
    let turn: UInt64
    /// The request.
    public let opcode: ATTOpcode
    /// The moment at which the request began to arrive. It may have waited for others since.
    public let moment: LinkMoment

    /// The longest answer, in octets.
    public var mtu: Int { bearer?.mtu ?? ATTBearer.defaultMTU }

    /// Answers.
    public func send(_ response: consuming ATTPDU) {
        bearer?.answer(turn: turn, response.encoded())
    }

    /// Answers with an error at `handle`.
    public func fail(_ code: ATTErrorCode, at handle: UInt16 = 0) {
        bearer?.answer(turn: turn, ATTErrorResponse(code, to: opcode, at: handle).framed())
    }
}
