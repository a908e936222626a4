import BluetoothTypes
import L2CAP

/// The one answer that a request of the peer gets, now or later. Only the first counts; after the bearer is closed
/// nothing happens.
package struct ATTReply {
    /// Where the request came in; nil when the bearer is gone.
    package internal(set) weak var bearer: ATTBearer?
    let turn: UInt64
    /// The request.
    package let opcode: ATTOpcode
    /// The moment at which the request began to arrive. It may have waited for others since.
    package let moment: LinkMoment

    /// The longest answer, in octets.
    package var mtu: Int { bearer?.mtu ?? ATTBearer.defaultMTU }

    /// Answers.
    package func send(_ response: consuming ATTPDU) {
        bearer?.answer(turn: turn, response.encoded())
    }

    /// Answers with an error at `handle`.
    package func fail(_ code: ATTErrorCode, at handle: UInt16 = 0) {
        bearer?.answer(turn: turn, ATTErrorResponse(code, to: opcode, at: handle).framed())
    }
}
