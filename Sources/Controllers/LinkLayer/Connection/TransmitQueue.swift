import BluetoothTypes
import DequeModule

/// The transmit queue of a link: control PDUs, and the host's packets, split into PDUs. The PDU in flight does not
/// change until the peer has acknowledged it.
struct TransmitQueue {
    /// The number of queued control PDUs from which no more control PDUs are accepted from the peer (AB-L05, AB-L09).
    static let maximumControlPDUs = 8

    /// A PDU to transmit.
    struct Outgoing {
        var content: DataHeader.Content
        var payload: PacketBuffer
        /// Whether this is the last PDU of a packet of the host.
        var endsPacket = false
        /// The encrypted payload, if the link is encrypted.
        var sealed: PacketBuffer?

        /// The payload as it goes on the air.
        var air: PacketBuffer { sealed ?? payload }
    }

    /// The PDUs allowed during encryption start and pause (Core Vol 6 Part B 5.1.3).
    private static let sentDuringEncryption: Set<ControlOpcode> = [
        .terminateInd, .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .rejectInd,
        .rejectExtInd, .unknownRsp,
    ]

    private struct Packet {
        var payload: PacketBuffer
        var isStart: Bool
    }

    private(set) var control = Deque<PacketBuffer>()
    private var packets = Deque<Packet>()
    /// Control PDUs held back together with the data.
    private(set) var waiting: Deque<PacketBuffer>?
    /// The PDU that has been sent but not acknowledged.
    private(set) var inFlight: Outgoing?

    var controlCount: Int { control.count + (waiting?.count ?? 0) }
    /// Whether a control PDU from the peer may be accepted.
    var hasRoom: Bool { controlCount < Self.maximumControlPDUs }
    /// Whether only the PDUs of the encryption procedures are sent.
    var isHeld: Bool { waiting != nil }
    /// The number of the host's packets that have not been acknowledged in full.
    var packetCount: Int { packets.count + (inFlight?.endsPacket == true ? 1 : 0) }
    /// Whether there is anything to send except empty PDUs, in flight or not.
    var hasWork: Bool { hasMore || !(inFlight?.payload.isEmpty ?? true) }
    /// Whether anything is queued after the PDU in flight: the MD bit.
    var hasMore: Bool { !control.isEmpty || !packets.isEmpty && !isHeld }

    /// Whether there is nothing but empty PDUs to send, and to be acknowledged.
    var isQuiet: Bool {
        guard !hasMore, let inFlight else { return !hasMore }
        return inFlight.payload.isEmpty && inFlight.content == .continuation && !inFlight.endsPacket
    }

    /// The payload length of the next PDU, if its length were unlimited; nil if there is none.
    var nextLength: Int? {
        if let inFlight { return inFlight.payload.count }
        return control.first?.count ?? (isHeld ? nil : packets.first?.payload.count)
    }

    /// The length of the next PDU, in flight or not, if it is a control PDU; otherwise nil.
    var controlLength: Int? {
        if let inFlight { return inFlight.content == .control ? inFlight.payload.count : nil }
        return control.first?.count
    }

    mutating func add(control pdu: PacketBuffer) {
        let mayGo = pdu.first.map { Self.sentDuringEncryption.contains(ControlOpcode(rawValue: $0)) } ?? false
        if isHeld, !mayGo { waiting?.append(pdu) } else { control.append(pdu) }
    }

    /// Holds back data and control PDUs added from now on, except those of the encryption procedures.
    mutating func hold() {
        if waiting == nil { waiting = [] }
    }

    /// Resumes sending, in the original order.
    mutating func release() {
        control.append(contentsOf: waiting ?? [])
        waiting = nil
    }

    /// Sets the encrypted payload of the PDU in flight, which its retransmissions use as well.
    mutating func seal(_ payload: PacketBuffer) {
        inFlight?.sealed = payload
    }

    mutating func add(_ payload: PacketBuffer, isStart: Bool) {
        packets.append(Packet(payload: payload, isStart: isStart))
    }

    /// Returns the PDU to send: the one in flight again, or the next one with at most `limit` octets.
    ///
    /// If nothing is queued, or the limit is 0, it is an empty PDU, which requires acknowledgement like any other.
    mutating func next(limit: Int) -> Outgoing {
        if let inFlight { return inFlight }
        let outgoing = take(limit: limit) ?? Outgoing(content: .continuation, payload: [])
        inFlight = outgoing
        return outgoing
    }

    /// Removes and returns the PDU in flight, which the peer has acknowledged.
    mutating func acknowledged() -> Outgoing? {
        defer { inFlight = nil }
        return inFlight
    }

    private mutating func take(limit: Int) -> Outgoing? {
        guard limit > 0 else { return nil }
        // Control PDUs are not split. One that does not fit waits for the next event, with the data behind it.
        if let pdu = control.first {
            guard pdu.count <= limit else { return nil }
            control.removeFirst()
            return Outgoing(content: .control, payload: pdu)
        }
        guard !isHeld, var packet = packets.popFirst() else { return nil }
        let payload = packet.payload.prefix(upTo: limit)
        let rest = packet.payload.suffix(after: limit)
        let content: DataHeader.Content = packet.isStart ? .start : .continuation
        if rest.isEmpty { return Outgoing(content: content, payload: payload, endsPacket: true) }
        packet.payload = rest
        packet.isStart = false
        packets.prepend(packet)
        return Outgoing(content: content, payload: payload)
    }
}
