/// Why a channel was not opened.
package enum ChannelOpenError: Error, Hashable, Sendable {
    /// The peer refused, for the given reason.
    case refused(ChannelResult)
    /// The peer does not know the request.
    case notUnderstood
    /// No answer came in time.
    case timedOut
    /// The peer's answer contradicts the specification, or names a channel that is in use.
    case invalidResponse
    /// No channel number is free, or too many requests wait for their answers.
    case noResources
    /// The request is one that may not be sent.
    case notAllowed
    /// The link is gone.
    case closed
}

/// Why a channel is gone.
package enum ChannelClosure: Hashable, Sendable {
    /// This end closed it.
    case local
    /// The peer closed it.
    case peer
    /// The link is gone.
    case linkLost
    /// The peer broke a rule, and this end closed the channel.
    case violation(ChannelViolation)
    /// More was sent than may wait (``L2CAPCreditBasedChannel/maximumQueuedSDUs``).
    case overflow
}

/// A rule of the specification that a peer broke on a channel, for which the channel is closed and the link kept.
package enum ChannelViolation: Hashable, Sendable {
    /// A frame longer than the MPS (Core Vol 3 Part A 3.4.3).
    case frameTooLong
    /// A first frame without a whole SDU length, or a later one without any octet (AB-C02).
    case frameTooShort
    /// An SDU longer than the MTU (Vol 3 Part A 3.4.3).
    case sduTooLong
    /// Frames that hold more than the announced SDU (Vol 3 Part A 3.4.3).
    case sduOverrun
    /// A frame without a credit (Vol 3 Part A 10.1).
    case noCredits
    /// More than 65,535 credits (Vol 3 Part A 10.1).
    case creditOverflow
    /// A second channel with the same number at the peer (Vol 3 Part A 4.26).
    case duplicateChannel
    /// A frame that was damaged on its way through the controller: the stream has a hole.
    case brokenFrame
}

/// Why an SDU was not taken.
package enum ChannelSendError: Error, Hashable, Sendable {
    /// It is longer than the peer takes.
    case tooLong(limit: Int)
    /// Too much waits; ``L2CAPCreditBasedChannel/onDrain`` tells when there is room.
    case full
    /// The channel is gone.
    case closed
}

/// Why the sizes of channels stay as they are.
package enum ReconfigureError: Error, Hashable, Sendable {
    /// The peer refused, for the given reason.
    case refused(ReconfigureResult)
    /// The peer does not know the request.
    case notUnderstood
    /// No answer came in time.
    case timedOut
    /// The sizes or the channels are such that the request may not be sent (Core Vol 3 Part A 4.27).
    case notAllowed
    /// Another request for other sizes is under way.
    case busy
    /// The link is gone.
    case closed
}
