import BluetoothTypes
import HCI

/// The protocol of the two ends of a measured transport: HCI packets, because some transports carry no others.
enum LineTalk {
    /// The number of octets in a data packet after its header, as many as fit into one packet on the air (Core Vol 6
    /// Part B 2.4).
    static let payload = 251
    /// The number of data packets in flight, like the buffers of a controller.
    static let window = 16
    /// The number of packets that one acknowledgement covers.
    static let portion = 8
    private static let handle: UInt16 = 0x0EFF

    /// Vendor-specific commands that no vendor uses (Core Vol 4 Part E 5.4.1: OGF 0x3F).
    enum Command: UInt16 {
        /// Requests one ``answer`` at once.
        case ping = 0xFFF0
        /// Requests a number of data packets.
        case flood = 0xFFF1
        /// Grants more data packets.
        case more = 0xFFF2
    }

    static let data: HCIPacket = {
        var bytes = PacketBuffer(headroom: 0)
        bytes.append(integer: handle)
        bytes.append(integer: UInt16(payload))
        bytes.append(contentsOf: [UInt8](repeating: 0x55, count: payload))
        return HCIPacket(.acl, bytes)
    }()

    static func command(_ command: Command, _ count: Int = 0) -> HCIPacket {
        var bytes = PacketBuffer(headroom: 0)
        bytes.append(integer: command.rawValue)
        bytes.append(4)
        bytes.append(integer: UInt32(count))
        return HCIPacket(.command, bytes)
    }

    /// The command in a packet and its count; nil for other commands.
    static func read(_ packet: HCIPacket) -> (command: Command, count: Int)? {
        guard packet.kind == .command, packet.bytes.count == 7 else { return nil }
        let bytes = Array(packet.bytes)
        guard let command = Command(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8) else { return nil }
        return (command, (3..<7).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) })
    }

    static func isData(_ packet: HCIPacket) -> Bool {
        packet.kind == .acl && packet.bytes.count == payload + 4
    }

    /// Command Complete, with one command credit (Core Vol 4 Part E 7.7.14).
    static let answer = HCIPacket(.event, PacketBuffer([0x0E, 4, 1, 0xF0, 0xFF, 0]))
    /// Number Of Completed Packets (Core Vol 4 Part E 7.7.19).
    static let acknowledgement = HCIPacket(
        .event,
        PacketBuffer([0x13, 5, 1, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8), UInt8(portion), 0])
    )

    /// The first command of every host (Core Vol 4 Part E 7.3.2). A transport that has lost synchronisation waits for
    /// its response.
    static let reset = HCIPacket(.command, PacketBuffer([0x03, 0x0C, 0]))
    static func isResetAnswer(_ packet: HCIPacket) -> Bool {
        packet.kind == .event && packet.bytes.first == 0x0E && packet.bytes.dropFirst(3).elementsEqual([0x03, 0x0C, 0])
    }

    static func isAnswer(_ packet: HCIPacket) -> Bool { packet == answer }
    static func isAcknowledgement(_ packet: HCIPacket) -> Bool { packet == acknowledgement }
}
