import BluetoothTypes
import EventLoops
import HCI

/// A transport between a host and its controller that makes the host's answers faulty. Used on the loop only.
package final class FaultyAnswers: HCITransport {
    /// The fault of the answers from now on; nil for none.
    package var fault: AnswerFault?
    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?

    private let line: any HCITransport
    private let loop: any EventLoop
    /// The links on which the rest of an answer is dropped.
    private var dropping: Set<ConnectionHandle> = []

    /// Creates a transport around another one.
    package init(_ line: any HCITransport, _ fault: AnswerFault?, loop: any EventLoop) {
        self.line = line
        self.fault = fault
        self.loop = loop
        line.onReceive = { [weak self] in self?.receive($0) }
        line.onClose = { [weak self] in self?.onClose?($0) }
    }

    package var place: String { line.place }
    package var maximumACLPayload: Int? { line.maximumACLPayload }
    package var isOpening: Bool { line.isOpening }

    package func close() { line.close() }
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) { line.resetDevice(completion) }

    package func send(_ packet: HCIPacket) {
        guard packet.kind == .acl, fault != nil || !dropping.isEmpty, let data = try? ACLPacket(reading: packet.bytes)
        else { return line.send(packet) }
        guard data.boundary.isStart else {
            return dropping.contains(data.handle) ? drop(data.handle) : line.send(packet)
        }
        dropping.remove(data.handle)
        guard let fault, let answer = AttributeAnswer(data.payload), answer.isAffected(by: fault) else {
            return line.send(packet)
        }
        apply(fault, to: answer, packet, data)
    }

    /// Passes a packet on. A request for an MTU that is refused asks for the least one, so that the host agrees with
    /// what the peer learns.
    private func receive(_ packet: HCIPacket) {
        guard fault == .mtuRefused, packet.kind == .acl, var data = try? ACLPacket(reading: packet.bytes),
            data.boundary.isStart, let request = AttributeAnswer.leastMTURequest(data.payload)
        else {
            onReceive?(packet)
            return
        }
        data.payload = request
        onReceive?(HCIPacket(data))
    }

    private func apply(_ fault: AnswerFault, to answer: AttributeAnswer, _ packet: HCIPacket, _ data: ACLPacket) {
        switch fault {
        case .late(let delay): loop.schedule(after: delay) { [line] in line.send(packet) }
        case .never:
            dropping.insert(data.handle)
            drop(data.handle)
        case .error, .malformed, .cutShort, .tooLong, .mtuRefused:
            // What follows of a long answer is not needed.
            if !answer.isWhole { dropping.insert(data.handle) }
            var changed = data
            changed.payload = answer.changed(by: fault)
            line.send(HCIPacket(changed))
        }
    }

    /// Tells the host that a packet is done, since the controller does not get it.
    private func drop(_ handle: ConnectionHandle) {
        loop.schedule(after: .zero) { [weak self] in
            self?.onReceive?(HCIPacket(NumberOfCompletedPackets(entries: [CompletedPackets(handle: handle, count: 1)])))
        }
    }
}

/// The beginning of an answer of an attribute server, on the fixed channel of ATT (Core Vol 3 Part A 2.1).
private struct AttributeAnswer {
    private static let channel: UInt16 = 4
    private static let headerSize = 4
    /// The opcodes of answers (Core Vol 3 Part F 3.4.8).
    private static let opcodes: Set<UInt8> = [
        0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21,
    ]
    /// An opcode without a meaning.
    private static let unassigned: UInt8 = 0x2D
    private static let errorResponse: UInt8 = 0x01
    private static let mtuRequest: UInt8 = 0x02
    private static let mtuResponse: UInt8 = 0x03
    private static let leastMTU: UInt8 = 23
    /// The error "Request Not Supported" (Core Vol 3 Part F 3.4.1.1).
    private static let requestNotSupported: UInt8 = 0x06

    let isWhole: Bool
    private let body: [UInt8]

    init?(_ payload: PacketBuffer) {
        var reader = ByteReader(payload)
        guard let length: UInt16 = try? reader.integer(at: "Length"),
            let channel: UInt16 = try? reader.integer(at: "Channel ID"), channel == Self.channel
        else { return nil }
        body = reader.rest().bytes
        guard let opcode = body.first, Self.opcodes.contains(opcode) else { return nil }
        isWhole = body.count == Int(length)
    }

    /// Returns a request for the least MTU if a packet is a request for one (Core Vol 3 Part F 3.4.2.1).
    static func leastMTURequest(_ payload: PacketBuffer) -> PacketBuffer? {
        var reader = ByteReader(payload)
        guard (try? reader.integer(at: "Length") as UInt16) == 3,
            (try? reader.integer(at: "Channel ID") as UInt16) == channel, reader.rest().bytes.first == mtuRequest
        else { return nil }
        return framed([mtuRequest, leastMTU, 0])
    }

    func isAffected(by fault: AnswerFault) -> Bool { fault != .mtuRefused || body[0] == Self.mtuResponse }

    func changed(by fault: AnswerFault) -> PacketBuffer {
        switch fault {
        case .error(let code):
            // An answer's opcode is that of its request plus one. The handle is unknown here.
            let request = body[0] == Self.errorResponse ? body[min(1, body.count - 1)] : body[0] - 1
            return Self.framed([Self.errorResponse, request, 0, 0, code])
        case .mtuRefused: return Self.framed([Self.errorResponse, body[0] - 1, 0, 0, Self.requestNotSupported])
        case .malformed: return Self.framed([Self.unassigned] + body.dropFirst())
        case .cutShort: return Self.framed(Array(body.dropLast()))
        case .tooLong: return Self.framed(body, lengthening: 1)
        case .late, .never: return Self.framed(body)
        }
    }

    private static func framed(_ body: [UInt8], lengthening excess: Int = 0) -> PacketBuffer {
        var packet = PacketBuffer(headroom: ACLPacket.headerSize, capacity: headerSize + body.count)
        packet.append(integer: UInt16(truncatingIfNeeded: body.count + excess))
        packet.append(integer: channel)
        packet.append(contentsOf: body)
        return packet
    }
}

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

extension AnswerFault {
    /// What the device does from then on, for the story of its world.
    var words: String {
        switch self {
        case .late(let delay): "answers requests late, after \((delay / .seconds(1)).shortText) s"
        case .never: "answers no requests"
        case .error(let code): "answers requests with the ATT error 0x\(String(code, radix: 16))"
        case .malformed: "answers requests with an unknown opcode"
        case .cutShort: "answers requests without their last octet"
        case .tooLong: "answers requests with a length that is too long"
        case .mtuRefused: "refuses to exchange the MTU"
        }
    }
}
