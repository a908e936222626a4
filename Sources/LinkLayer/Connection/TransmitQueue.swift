import BluetoothTypes
import DequeModule

/// What a link has to send: control PDUs, and the host's packets cut into PDUs. The one on the air stays the same until
/// the peer has it.
struct TransmitQueue {
    /// Control PDUs that wait, at most: beyond it nothing that would need an answer is taken from the peer (AB-L05, AB-L09).
    static let maximumControlPDUs = 8

    /// What to put on the air.
    struct Outgoing {
        var content: DataHeader.Content
        var payload: PacketBuffer
        /// The last PDU of a packet of the host.
        var endsPacket = false
        /// The payload as it goes on the air, when the link is encrypted.
        var sealed: PacketBuffer?

        /// What goes on the air.
        var air: PacketBuffer { sealed ?? payload }
    }

    /// What may be sent while encryption is begun or paused (Core Vol 6 Part B 5.1.3).
    private static let sentDuringEncryption: Set<ControlOpcode> = [
        .terminateInd, .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .rejectInd,
        .rejectExtInd, .unknownRsp,
    ]

    private struct Packet {
        var payload: PacketBuffer
        var isStart: Bool
    }

    private var control = Deque<PacketBuffer>()
    private var packets = Deque<Packet>()
    /// Control PDUs that have to wait with the data.
    private var waiting: Deque<PacketBuffer>?
    /// What has been sent and not yet acknowledged.
    private(set) var inFlight: Outgoing?

    /// Control PDUs that wait.
    var controlCount: Int { control.count + (waiting?.count ?? 0) }
    /// Whether a control PDU from the peer may be taken.
    var hasRoom: Bool { controlCount < Self.maximumControlPDUs }
    /// Whether only what belongs to the encryption procedures is sent.
    var isHeld: Bool { waiting != nil }
    /// Packets of the host that have not been sent whole.
    var packetCount: Int { packets.count + (inFlight?.endsPacket == true ? 1 : 0) }
    /// Whether anything but an empty PDU waits, sent or not.
    var hasWork: Bool { hasMore || !(inFlight?.payload.isEmpty ?? true) }
    /// Whether something waits behind the PDU in flight: the MD bit.
    var hasMore: Bool { !control.isEmpty || !packets.isEmpty && !isHeld }

    /// Octets of what would be sent next if there were no limit; nil for nothing.
    var nextLength: Int? {
        if let inFlight { return inFlight.payload.count }
        return control.first?.count ?? (isHeld ? nil : packets.first?.payload.count)
    }

    /// Octets of a control PDU that is next, sent or not; nil when something else is.
    var controlLength: Int? {
        if let inFlight { return inFlight.content == .control ? inFlight.payload.count : nil }
        return control.first?.count
    }

    mutating func add(control pdu: PacketBuffer) {
        let mayGo = pdu.first.map { Self.sentDuringEncryption.contains(ControlOpcode(rawValue: $0)) } ?? false
        if isHeld, !mayGo { waiting?.append(pdu) } else { control.append(pdu) }
    }

    /// From now on nothing is sent but what waits among the control PDUs, and those of the encryption procedures.
    mutating func hold() {
        if waiting == nil { waiting = [] }
    }

    /// All is sent again, in the old order.
    mutating func release() {
        control.append(contentsOf: waiting ?? [])
        waiting = nil
    }

    /// What the PDU in flight looks like on the air, now and whenever it is sent again.
    mutating func seal(_ payload: PacketBuffer) {
        inFlight?.sealed = payload
    }

    mutating func add(_ payload: PacketBuffer, isStart: Bool) {
        packets.append(Packet(payload: payload, isStart: isStart))
    }

    /// What to send now: the PDU in flight again, or the next one of `limit` octets at most. Nothing to send is an empty
    /// PDU, which has to be acknowledged like any other. With a limit of 0 it is empty whatever waits.
    mutating func next(limit: Int) -> Outgoing {
        if let inFlight { return inFlight }
        let outgoing = take(limit: limit) ?? Outgoing(content: .continuation, payload: [])
        inFlight = outgoing
        return outgoing
    }

    /// The peer has what was in flight.
    mutating func acknowledged() -> Outgoing? {
        defer { inFlight = nil }
        return inFlight
    }

    private mutating func take(limit: Int) -> Outgoing? {
        guard limit > 0 else { return nil }
        // A control PDU is never cut. One that does not fit waits for the next event, and the data wait behind it.
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
