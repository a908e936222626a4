import EventLoops

/// The air time of an exchange of PDUs on a link, as its PHYs and its encryption are now.
struct LinkExchange {
    let isCentral: Bool
    let tx: RadioPHY
    let rx: RadioPHY
    /// The number of octets that encryption adds to sent payloads.
    let sealOctets: Int
    /// The number of octets that encryption adds to received payloads.
    let openOctets: Int

    /// The duration of an event's first exchange while another user waits, in microseconds: 27 octets each way.
    var first: Int64 {
        let octets = DataHeader.size + Int(DataLength.minimumOctets)
        return tx.airTimeMicroseconds(octets: octets + sealOctets)
            + rx.airTimeMicroseconds(octets: octets + openOctets) + LinkTiming.interFrameSpace
    }

    /// Returns the duration of a sent PDU whose payload has this many octets on the air, in microseconds.
    func sending(_ payload: Int) -> Int64 { tx.airTimeMicroseconds(octets: DataHeader.size + payload) }

    /// The duration of an empty PDU of the peer, in microseconds.
    var emptyAnswer: Int64 { rx.airTimeMicroseconds(octets: DataHeader.size) }

    /// Returns the negotiated length of payloads, before encryption: limited in octets, and in time on this PHY.
    func agreedLength(_ length: DataLength) -> Int {
        min(Int(length.txOctets), tx.longestPayload(within: Int64(length.txTime(tx))) - sealOctets)
    }

    /// Returns when a PDU with this many octets of payload has ended and, as central, an empty response to it.
    func end(from start: Instant, sending payload: Int) -> Instant {
        let answer = isCentral ? LinkTiming.interFrameSpace + emptyAnswer : 0
        return start.advanced(byMicroseconds: sending(payload) + answer)
    }

    /// Returns the longest payload that ends before `end`, as central with the peer's response.
    ///
    /// The first exchange of an event leaves the peer time for 27 octets, which every device may send. Otherwise a side
    /// that always has more data could silence the other.
    func longestPayload(from start: Instant, to end: Instant, isFirst: Bool) -> Int {
        let answer = isFirst ? Int(DataLength.minimumOctets) + openOctets : 0
        let peer = LinkTiming.interFrameSpace + rx.airTimeMicroseconds(octets: DataHeader.size + answer)
        let longest = tx.longestPayload(within: end.microseconds(since: start) - (isCentral ? peer : 0))
        return max(0, longest - sealOctets)
    }
}

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
