import BluetoothTypes
import CaptureStory
import HCI
import ServiceEvents

/// A machine that finds the command or the request that a packet answers.
///
/// A controller answers each command with one event (Core Vol 4 Part E 4.4), and the ends of a link have one request and
/// one indication open in each direction (Core Vol 3 Part F 3.3.2). Of a PDU in several packets, the first one counts.
struct PacketAnswers {
    /// The maximum number of commands and requests without an answer that are remembered.
    static let maximumOpen = 64

    private enum Key: Hashable {
        case command(UInt16)
        /// A request or an indication on a link, and whether it was received.
        case request(link: UInt16, isReceived: Bool)
        case indication(link: UInt16, isReceived: Bool)
    }

    private var open: [Key: UInt64] = [:]

    /// Receives a packet, in the order of transmission.
    ///
    /// - Returns: The number of the packet that it answers; nil if there is none.
    mutating func receive(_ packet: MonitoredPacket) -> UInt64? {
        if let key = Self.question(packet) {
            if open.count >= Self.maximumOpen { open = [:] }
            open[key] = packet.number
            return nil
        }
        return Self.answer(packet).flatMap { open.removeValue(forKey: $0) }
    }

    private static func question(_ packet: MonitoredPacket) -> Key? {
        if packet.kind == HCIPacket.Kind.command.rawValue { return packet.octets.word(at: 0).map(Key.command) }
        guard let (link, opcode) = attribute(packet) else { return nil }
        // The method is even for requests; commands have a bit more (Core Vol 3 Part F 3.3.1).
        switch opcode {
        case 0x1D: return .indication(link: link, isReceived: packet.isReceived)
        case 0x02...0x20 where opcode.isMultiple(of: 2) && opcode != 0x1E:
            return .request(link: link, isReceived: packet.isReceived)
        default: return nil
        }
    }

    private static func answer(_ packet: MonitoredPacket) -> Key? {
        if packet.kind == HCIPacket.Kind.event.rawValue {
            switch packet.octets.octet(at: 0) {
            case CommandComplete.eventCode.rawValue?: return packet.octets.word(at: 3).map(Key.command)
            case CommandStatus.eventCode.rawValue?: return packet.octets.word(at: 4).map(Key.command)
            default: return nil
            }
        }
        guard let (link, opcode) = attribute(packet) else { return nil }
        switch opcode {
        case 0x1E: return .indication(link: link, isReceived: !packet.isReceived)
        case 0x1B, 0x1D, 0x23: return nil
        case 0x01...0x21 where !opcode.isMultiple(of: 2): return .request(link: link, isReceived: !packet.isReceived)
        default: return nil
        }
    }

    /// The link and the opcode of a PDU of the attribute protocol that begins in a packet.
    private static func attribute(_ packet: MonitoredPacket) -> (link: UInt16, opcode: UInt8)? {
        guard packet.kind == HCIPacket.Kind.acl.rawValue, let head = packet.octets.word(at: 0),
            // Not the continuation of a PDU (Core Vol 4 Part E 5.4.2), and on the attribute channel.
            head >> 12 & 0b11 != 0b01, packet.octets.word(at: 6) == 0x0004, let opcode = packet.octets.octet(at: 8)
        else { return nil }
        return (head & 0xFFF, opcode)
    }
}
