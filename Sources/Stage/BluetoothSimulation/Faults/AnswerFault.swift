/// A way in which a simulated device answers requests for attributes wrongly, as devices with bad firmware do.
public enum AnswerFault: Hashable, Sendable {
    /// The device answers after a delay. From 30 s on, centrals give up (behaviour 5.23).
    case late(Duration)
    /// The device never answers.
    case never
    /// The device answers with this ATT error code, from 1 to 255 (Core Vol 3 Part F 3.4.1.1).
    case error(UInt8)
    /// The answer has an opcode that no answer has.
    case malformed
    /// The answer lacks its last octet.
    case cutShort
    /// The answer claims to be longer than it is.
    case tooLong
    /// The device refuses to exchange the MTU, so that it stays at 23 octets. Other answers are right.
    case mtuRefused
}
