import BluetoothTypes
import L2CAP

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
