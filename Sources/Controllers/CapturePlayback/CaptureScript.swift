import BluetoothTypes
import HCI

/// A capture as a script: the packets of its host, and for each packet of its controller what has to precede it.
struct CaptureScript: Sendable {
    /// A packet or PDU of the host.
    struct Sent: Sendable {
        enum Content: Sendable {
            case command(Opcode)
            case pdu(ChannelPDU)
        }

        var content: Content
        var packet: HCIPacket
        /// The answers to a command, with their delays in microseconds.
        var answers: [(packet: HCIPacket, delay: Int64)] = []
        /// The delay after which a PDU's packets had left the controller, in microseconds.
        var completion: Int64?
    }

    /// Packets of the controller.
    struct Received: Sendable {
        var content: ReceivedContent
        var packets: [HCIPacket]
        /// The step that has to precede it in any case; for what belongs to an activity, the step that starts it, or
        /// another start of the same activity.
        var cause: Int?
        /// The steps that it follows, unless the playback never comes to them.
        var predecessors: [Int] = []

        /// All steps that have to precede it.
        var before: [Int] { (cause.map { [$0] } ?? []) + predecessors }
    }

    enum ReceivedContent: Hashable, Sendable {
        case event, report, pdu(ChannelPDU)
        case connected(isCentral: Bool), cancelled, disconnected
    }

    enum Role: Sendable {
        case sent(Sent)
        case received(Received)
    }

    struct Step: Sendable {
        /// The time since the beginning of the capture, in microseconds.
        let time: Int64
        let lane: Lane
        var role: Role

        var sent: Sent? { if case .sent(let sent) = role { sent } else { nil } }
        var received: Received? { if case .received(let received) = role { received } else { nil } }
    }

    /// The latest time of a packet, in microseconds: 30 years after the first one.
    private static let maximumTime: Int64 = 1_000_000_000_000_000

    var steps: [Step] = []
    /// The time of the last packet, in microseconds.
    var duration: Int64 { steps.last?.time ?? 0 }
    /// The connection handle of each connection in the capture.
    var handles: [UInt16] = []
    /// The steps that wait for a step.
    var followers: [[Int]] = []
    /// The steps of each connection, and of the device.
    var lanes: [Lane: [Int]] = [:]
    /// The attributes of the peer of each connection.
    var tables: [CapturedTable] = []
    /// The steps that belong to each activity of the host: reports and connections.
    var activities: [CommandFamily: [Int]] = [:]
    /// The handles of connections that were there before the capture began, with the number of their data packets,
    /// which are not played.
    var handlesWithoutBeginning: [UInt16: Int] = [:]
    /// Whether the host used the commands of version 4.0, so that the playback hides extended advertising.
    var isLegacy = false
    /// The controller's part in the initialization, if the capture begins after it.
    var assumed: AssumedController?

    init(_ records: [CaptureRecord]) {
        var builder = ScriptBuilder()
        let start = records.first { $0.packet != nil }?.unixMicroseconds ?? 0
        // A capture of several adapters is that of the first one with a packet.
        let adapter = records.first { $0.packet != nil }?.adapter
        for record in records where record.adapter == adapter && record.omitted == 0 {
            guard case .hci(let packet, let direction) = record.content else { continue }
            let (time, overflow) = record.unixMicroseconds.subtractingReportingOverflow(start)
            builder.add(packet, direction, at: overflow ? 0 : min(max(time, 0), Self.maximumTime))
        }
        self = builder.finished()
    }

    init() {}
}

extension CaptureScript.ReceivedContent {
    /// The activity without which a controller does not send it.
    var family: CommandFamily? {
        switch self {
        case .report: .scan
        case .connected(let isCentral): isCentral ? .connect : .advertise
        case .event, .pdu, .cancelled, .disconnected: nil
        }
    }
}

extension CaptureScript {
    /// An answer as the playback sends it: with room for another command, and without the support of extended
    /// advertising if the capture's host did not use it.
    func prepared(_ answer: HCIPacket) -> HCIPacket {
        var octets = [UInt8](answer.bytes)
        let credits = octets.first == 0x0E ? 2 : 3
        guard octets.count > credits else { return answer }
        octets[credits] = max(octets[credits], 1)
        guard isLegacy, octets[0] == 0x0E, octets.count > 8 else { return HCIPacket(.event, PacketBuffer(octets)) }
        let opcode = UInt16(octets[3]) | UInt16(octets[4]) << 8
        switch opcode {
        case ReadLocalSupportedCommands.opcode.rawValue:
            for number in CommandFamily.extended {
                let bit = HCICommandRegistry.type(for: Opcode(rawValue: number))?.supportBit
                guard let bit, octets.count > 6 + bit.octet else { continue }
                octets[6 + bit.octet] &= ~(1 << UInt8(truncatingIfNeeded: bit.bit))
            }
        // Bits 12 and 13 of the features: extended and periodic advertising.
        case LEReadLocalSupportedFeatures.opcode.rawValue: octets[7] &= 0xCF
        case LEReadAllLocalSupportedFeatures.opcode.rawValue: octets[8] &= 0xCF
        default: break
        }
        return HCIPacket(.event, PacketBuffer(octets))
    }
}

extension HCICommandRegistry {
    /// Whether the answer to a command has nothing but a status.
    static func hasStatusOnly(_ command: any HCICommand.Type) -> Bool {
        func isStatus<C: HCICommand>(_ command: C.Type) -> Bool { C.Response.self == StatusOnly.self }
        return isStatus(command)
    }
}

extension CaptureScript {
    /// A step of the host in words.
    func words(of step: Int) -> String {
        guard let sent = steps[step].sent else { return "" }
        return switch sent.content {
        case .command: PacketPrinter.describe(sent.packet)
        case .pdu(let pdu): pdu.words
        }
    }

    /// A packet of the playback with the connection handle of the capture.
    func captured(_ packet: HCIPacket, _ lane: Lane) -> HCIPacket {
        guard case .link(let link) = lane else { return packet }
        return HandlePlaces.replace(handles[link], in: packet)
    }
}
