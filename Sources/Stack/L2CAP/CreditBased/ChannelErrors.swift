/// An error that is thrown when a channel could not be opened.
package enum ChannelOpenError: Error, Hashable, Sendable {
    case refused(ChannelResult)
    case notUnderstood
    case timedOut
    /// The peer's answer violates the specification, or names a channel that is already in use.
    case invalidResponse
    /// No channel identifier is free, or too many requests are pending.
    case noResources
    /// The arguments make a request that must not be sent.
    case notAllowed
    case closed
}

/// The reason why a channel was closed.
package enum ChannelClosure: Hashable, Sendable {
    case local
    case peer
    case linkLost
    /// The peer violated the specification, and this end closed the channel.
    case violation(ChannelViolation)
    /// More SDUs were sent than fit the queue (``L2CAPCreditBasedChannel/maximumQueuedSDUs``).
    case overflow
}

/// A violation of the specification by the peer that closes the channel but not the link.
package enum ChannelViolation: Hashable, Sendable {
    /// A frame is longer than the MPS (Core Vol 3 Part A 3.4.3).
    case frameTooLong
    /// A first frame lacks a complete SDU length, or a later one is empty (AB-C02).
    case frameTooShort
    /// An SDU is longer than the MTU (Vol 3 Part A 3.4.3).
    case sduTooLong
    /// The frames hold more than the announced SDU (Vol 3 Part A 3.4.3).
    case sduOverrun
    /// A frame arrived without a credit (Vol 3 Part A 10.1, AB-C07).
    case noCredits
    /// The peer granted more than 65,535 credits in total (Vol 3 Part A 10.1, AB-C07).
    case creditOverflow
    /// The peer assigned an identifier to a second channel that it already uses for another (Vol 3 Part A 4.26).
    case duplicateChannel
    /// A frame was damaged on its way through the controller, which leaves a gap in the stream.
    case brokenFrame
}

/// An error that is thrown when an SDU was not queued.
package enum ChannelSendError: Error, Hashable, Sendable {
    /// The SDU is longer than the peer's MTU.
    case tooLong(limit: Int)
    /// The queue is full; ``L2CAPCreditBasedChannel/onDrain`` is called when there is room.
    case full
    case closed
}

/// An error that is reported when channels keep their old sizes.
package enum ReconfigureError: Error, Hashable, Sendable {
    case refused(ReconfigureResult)
    case notUnderstood
    case timedOut
    /// The specification does not allow the request for these sizes or channels (Core Vol 3 Part A 4.27).
    case notAllowed
    /// Another reconfiguration is pending.
    case busy
    case closed
}
