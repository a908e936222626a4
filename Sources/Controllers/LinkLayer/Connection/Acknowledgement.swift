/// The one-bit sequence numbers that deliver each PDU exactly once (Core Vol 6 Part B 4.5.9).
struct Acknowledgement: Hashable {
    /// The meaning of a received PDU.
    struct Outcome: Hashable {
        /// Whether the PDU is new, not a retransmission, and has been accepted.
        var isNew: Bool
        /// Whether the PDU sent last has arrived.
        var isAcknowledged: Bool
    }

    /// transmitSeqNum: the number of the PDU being sent.
    private(set) var sequence = false
    /// nextExpectedSeqNum: the number of the expected PDU.
    private(set) var nextExpected = false

    /// Processes the sequence numbers of a PDU with a correct CRC.
    ///
    /// - Parameter hasRoom: Whether a new PDU can be accepted. If not, it remains unacknowledged, so that the peer
    ///   retransmits it. This is the link layer's flow control (AB-L09).
    mutating func receive(sequence peer: Bool, nextExpected acknowledged: Bool, hasRoom: Bool) -> Outcome {
        let isNew = peer == nextExpected && hasRoom
        if isNew { nextExpected.toggle() }
        let isAcknowledged = acknowledged != sequence
        if isAcknowledged { sequence.toggle() }
        return Outcome(isNew: isNew, isAcknowledged: isAcknowledged)
    }
}
