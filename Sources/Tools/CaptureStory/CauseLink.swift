import ATT
import BluetoothTypes

/// What caused the PDUs of a link: the open requests of both ends, subscriptions, and the pairing.
struct CauseLink: Sendable {
    static let maximumOpen = 64
    /// How long a request may be without a response, in microseconds (Core Vol 3 Part F 3.3.3).
    private static let transactionTimeout: Int64 = 30_000_000

    /// A request of the attribute protocol, or a later part of the same procedure.
    private struct Request: Sendable {
        let opcode: UInt8
        let handle: UInt16?
        let cause: PacketCause
    }

    /// The packet that made the link.
    var made: PacketCause?
    /// Whether the near end is the central.
    var isCentral = true
    /// The last packet of each end.
    var last = PerSide<PacketCause?>(nil)
    /// The first packet of the PDU that each end is sending.
    private var start = PerSide<PacketCause?>(nil)
    private var requests = PerSide<Request?>(nil)
    private var indications = PerSide<PacketCause?>(nil)
    /// The last answered request of each end, with its response, and the last one that was refused.
    private var answered = PerSide<(request: Request, response: PacketCause)?>(nil)
    private var refused = PerSide<Request?>(nil)
    private var subscriptions: [UInt16: PacketCause] = [:]
    private var signals: [UInt16: PacketCause] = [:]
    private var pairing: PacketCause?
    /// The last change of the link's security.
    var secured: PacketCause?

    /// Returns what caused a packet with a part of a PDU of L2CAP; nil if nothing above L2CAP tells.
    func origin(of payload: PacketBuffer, isStart: Bool, from side: StorySide) -> CauseOrigin? {
        guard isStart else { return start[side].map { CauseOrigin(.isFragment, $0) } }
        guard let channel = payload.word(at: 2), let code = payload.octet(at: 4) else { return nil }
        switch channel {
        case 0x0004: return origin(ofAttribute: payload.suffix(after: 4), code, from: side)
        case 0x0005: return origin(ofSignal: code, identifier: payload.octet(at: 5) ?? 0, from: side)
        case 0x0006: return origin(ofSecurity: code, from: side)
        default: return nil
        }
    }

    private func origin(ofAttribute pdu: PacketBuffer, _ code: UInt8, from side: StorySide) -> CauseOrigin? {
        switch ATTOpcode(rawValue: code).kind {
        case .response: return requests[side.other].map { CauseOrigin(answering: $0.cause, .answersRequest) }
        case .confirmation: return indications[side.other].map { CauseOrigin(answering: $0, .confirms) }
        case .notification, .indication:
            guard let handle = pdu.word(at: 1) else { return nil }
            let nearest = subscriptions.keys.filter { $0 > handle }.min()
            return nearest.flatMap { subscriptions[$0] }.map { CauseOrigin(.isSubscribed, $0) }
        case .request:
            let handle = pdu.word(at: 1)
            if let before = refused[side], before.opcode == code, before.handle == handle, let secured,
                secured.packet > before.cause.packet
            {
                return CauseOrigin(.repeats, secured)
            }
            guard let (before, response) = answered[side], before.opcode == code, Self.continues(code),
                (handle ?? 0) > (before.handle ?? .max)
            else { return nil }
            return CauseOrigin(.continues, response)
        case .command: return nil
        }
    }

    /// Whether a request is part of a procedure of several requests with growing handles.
    private static func continues(_ code: UInt8) -> Bool { [0x04, 0x06, 0x08, 0x10].contains(code) }

    private func origin(ofSignal code: UInt8, identifier: UInt8, from side: StorySide) -> CauseOrigin? {
        guard Self.isSignalAnswer(code) else { return nil }
        return signals[Self.key(identifier, side.other)].map { CauseOrigin(answering: $0, .answersSignal) }
    }

    private static func isSignalAnswer(_ code: UInt8) -> Bool {
        [0x01, 0x07, 0x13, 0x15, 0x18, 0x1A].contains(code)
    }

    private static func key(_ identifier: UInt8, _ side: StorySide) -> UInt16 {
        UInt16(side.rawValue) << 8 | UInt16(identifier)
    }

    private func origin(ofSecurity code: UInt8, from side: StorySide) -> CauseOrigin? {
        switch code {
        // A Pairing Request and a Security Request begin; a request that was refused is why.
        case 0x01 where pairing == nil, 0x0B: refused[side].map { CauseOrigin(.startsSecurity, $0.cause) }
        default: pairing.map { CauseOrigin(.followsPairing, $0) }
        }
    }

    /// The packet because of which the near end asks for encryption.
    var reasonForSecurity: PacketCause? { pairing ?? refused.near?.cause }

    /// The request of the near end that has had no response for too long.
    func overdue(at time: Int64) -> PacketCause? {
        guard let request = requests.near?.cause, time &- request.time >= Self.transactionTimeout else { return nil }
        return request
    }

    /// The last request of the far end for other parameters of the connection.
    var parameterRequest: PacketCause? { signals[Self.key(0, .far)] }

    // MARK: What follows

    /// Notes a packet whose cause is known.
    mutating func note(_ payload: PacketBuffer, isStart: Bool, from side: StorySide, _ node: PacketCause) {
        last[side] = node
        guard isStart else { return }
        start[side] = node
        guard let channel = payload.word(at: 2), let code = payload.octet(at: 4) else { return }
        switch channel {
        case 0x0004: note(attribute: payload.suffix(after: 4), code, from: side, node)
        case 0x0005 where !Self.isSignalAnswer(code):
            if signals.count >= Self.maximumOpen { signals = [:] }
            signals[Self.key(payload.octet(at: 5) ?? 0, side)] = node
            // No command has the identifier 0 (Core Vol 3 Part A 4).
            if code == 0x12 { signals[Self.key(0, side)] = node }
        case 0x0006: pairing = node
        default: break
        }
    }

    private mutating func note(attribute pdu: PacketBuffer, _ code: UInt8, from side: StorySide, _ node: PacketCause) {
        switch ATTOpcode(rawValue: code).kind {
        case .request:
            requests[side] = Request(opcode: code, handle: pdu.word(at: 1), cause: node)
            guard code == 0x12, pdu.count == 5, let handle = pdu.word(at: 1), let bits = pdu.word(at: 3), bits <= 3
            else { return }
            if subscriptions.count >= Self.maximumOpen { subscriptions = [:] }
            subscriptions[handle] = bits == 0 ? nil : node
        case .response:
            guard let request = requests[side.other] else { return }
            requests[side.other] = nil
            answered[side.other] = (request, node)
            guard code == 0x01, let error = pdu.octet(at: 4), [0x05, 0x08, 0x0C, 0x0F].contains(error) else { return }
            refused[side.other] = Request(opcode: request.opcode, handle: request.handle, cause: node)
        case .indication: indications[side] = node
        case .confirmation: indications[side.other] = nil
        case .notification, .command: break
        }
    }

    /// Notes that a pairing is over, since the link is encrypted or the pairing has failed.
    mutating func endPairing(_ node: PacketCause) { (pairing, secured) = (nil, node) }
}
