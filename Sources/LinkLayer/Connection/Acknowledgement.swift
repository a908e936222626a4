/// The one-bit sequence numbers that make each PDU arrive once (Core Vol 6 Part B 4.5.9).
struct Acknowledgement: Hashable {
    /// What a received PDU means.
    struct Outcome: Hashable {
        /// The PDU is not one that was there before, and has been taken.
        var isNew: Bool
        /// The PDU that was sent last has arrived.
        var isAcknowledged: Bool
    }

    /// transmitSeqNum: the number of the PDU being sent.
    private(set) var sequence = false
    /// nextExpectedSeqNum: the number of the PDU being waited for.
    private(set) var nextExpected = false

    /// Takes the numbers of a PDU with a good CRC.
    ///
    /// - Parameter hasRoom: whether a new PDU can be taken. One that cannot stays unacknowledged, so that the peer sends
    ///   it again: this is the link layer's flow control (AB-L09).
    mutating func receive(sequence peer: Bool, nextExpected acknowledged: Bool, hasRoom: Bool) -> Outcome {
        let isNew = peer == nextExpected && hasRoom
        if isNew { nextExpected.toggle() }
        let isAcknowledged = acknowledged != sequence
        if isAcknowledged { sequence.toggle() }
        return Outcome(isNew: isNew, isAcknowledged: isAcknowledged)
    }
}
