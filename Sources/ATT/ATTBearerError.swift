import BluetoothTypes

/// Why a bearer could not do what was asked of it.
package enum ATTBearerError: Error, Hashable, Sendable {
    /// The peer answered with an error.
    case response(ATTErrorResponse)
    /// The peer's answer has the right opcode and impossible fields.
    case malformedResponse(ATTOpcode, PacketError)
    /// The peer's answer is longer than the MTU.
    case oversizedResponse(ATTOpcode, length: Int)
    /// The request is longer than the MTU.
    case requestTooLong(length: Int)
    /// Too much waits already.
    case queueFull
    /// The bearer is closed, for the given reason.
    case closed(ATTBearerClosure)
}

/// Why a bearer is closed. Except for ``linkLost`` and ``local`` the link should go with it.
package enum ATTBearerClosure: Hashable, Sendable {
    /// The link is gone.
    case linkLost
    /// The owner closed the bearer.
    case local
    /// The peer did not answer a request in time (Core Vol 3 Part F 3.3.3).
    case requestTimeout
    /// The peer did not confirm an indication in time.
    case indicationTimeout
    /// The peer sent more requests than it may have waiting, or does not take the answers (AB-A06).
    case tooManyRequests

    /// Whether the peer broke the protocol, and the link should go.
    package var isFailure: Bool { self != .linkLost && self != .local }
}
