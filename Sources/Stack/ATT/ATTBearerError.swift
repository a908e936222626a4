import BluetoothTypes

/// An error of an operation on a bearer.
package enum ATTBearerError: Error, Hashable, Sendable {
    /// The peer answered with an error response.
    case response(ATTErrorResponse)
    /// The peer's response has the expected opcode and invalid fields.
    case malformedResponse(ATTOpcode, PacketError)
    /// The peer's response is longer than the MTU.
    case oversizedResponse(ATTOpcode, length: Int)
    /// The request is longer than the MTU.
    case requestTooLong(length: Int)
    /// The queue of waiting requests is full.
    case queueFull
    /// The bearer is closed.
    case closed(ATTBearerClosure)
}

/// The reason why a bearer closed. Disconnect the link for any reason other than ``linkLost`` and ``local``.
package enum ATTBearerClosure: Hashable, Sendable {
    /// The channel closed, in general because the link was lost.
    case linkLost
    /// The owner closed the bearer.
    case local
    /// The peer did not answer a request within ``ATTBearer/transactionTimeout`` (Core Vol 3 Part F 3.3.3).
    case requestTimeout
    /// The peer did not confirm an indication within ``ATTBearer/transactionTimeout``.
    case indicationTimeout
    /// The peer queued too many requests, or does not drain the answers (AB-A06).
    case tooManyRequests

    /// Whether the peer violated the protocol, so that the link should be disconnected.
    package var isFailure: Bool { self != .linkLost && self != .local }
}
