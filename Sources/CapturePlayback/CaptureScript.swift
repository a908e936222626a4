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
        /// The step that has to precede it in any case.
        var cause: Int?
        /// The step that it follows, unless the playback never comes to that.
        var predecessor: Int?
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
    /// The connection handle of each connection in the capture.
    var handles: [UInt16] = []
    /// The steps that wait for a step.
    var followers: [[Int]] = []
    /// The steps of each connection, and of the device.
    var lanes: [Lane: [Int]] = [:]
    /// The attributes of the peer of each connection.
    var tables: [CapturedTable] = []
    /// Whether the host used the commands of version 4.0, so that the playback hides extended advertising.
    var isLegacy = false

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
