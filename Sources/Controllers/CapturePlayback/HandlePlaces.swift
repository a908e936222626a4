import BluetoothTypes
import HCI

/// Where connection handles are in HCI packets, whose capture and playback may have different ones.
enum HandlePlaces {
    /// The commands whose first parameter is a connection handle.
    private static let commands: Set<UInt16> = [
        0x0406, 0x041D, 0x0C7B, 0x0C7C, 0x0C2D, 0x1405, 0x2013, 0x2015, 0x2016, 0x2019, 0x201A, 0x201B, 0x2020, 0x2021,
        0x2022, 0x2030, 0x2032, 0x206D, 0x207E, 0x205A, 0x205B, 0x2076, 0x2077,
    ]

    /// The offset of the handle in the parameters of events; the key of an LE event is its subevent and 0x3E00.
    private static let events: [UInt16: Int] = [
        0x05: 1, 0x08: 1, 0x0C: 1, 0x30: 1, 0x57: 0, 0x59: 1, 0x3E01: 2, 0x3E03: 2, 0x3E04: 2, 0x3E05: 1, 0x3E06: 1,
        0x3E07: 1, 0x3E0A: 2, 0x3E0C: 2, 0x3E12: 3, 0x3E14: 1, 0x3E1F: 2, 0x3E20: 1, 0x3E21: 2, 0x3E23: 2, 0x3E29: 2,
    ]

    /// Returns the offset of the handle in the octets of a packet; nil if it has none.
    static func place(in packet: HCIPacket) -> Int? {
        let octets = packet.bytes
        let place: Int?
        switch packet.kind {
        case .command: place = word(octets, 0).map { commands.contains($0) } == true ? 3 : nil
        case .acl: place = 0
        case .event:
            guard let code = octets.first else { return nil }
            if code == 0x0E {
                // Return parameters: the status, and then the handle.
                place = word(octets, 3).map { commands.contains($0) } == true ? 6 : nil
            } else {
                let key = code == 0x3E && octets.count > 2 ? 0x3E00 | UInt16(octets[2]) : UInt16(code)
                place = events[key].map { $0 + 2 }
            }
        case .synchronous, .isochronous: place = nil
        }
        guard let place, octets.count >= place + 2 else { return nil }
        return place
    }

    /// Returns the connection handle in a packet.
    static func handle(in packet: HCIPacket) -> UInt16? {
        place(in: packet).flatMap { word(packet.bytes, $0) }.map { $0 & 0x0FFF }
    }

    /// Returns the packet with another connection handle.
    static func replace(_ handle: UInt16, in packet: HCIPacket) -> HCIPacket {
        guard let place = place(in: packet), let old = word(packet.bytes, place) else { return packet }
        var octets = [UInt8](packet.bytes)
        let new = old & 0xF000 | handle & 0x0FFF
        (octets[place], octets[place + 1]) = (UInt8(truncatingIfNeeded: new), UInt8(truncatingIfNeeded: new >> 8))
        return HCIPacket(packet.kind, PacketBuffer(octets))
    }

    static func word(_ octets: PacketBuffer, _ index: Int) -> UInt16? {
        octets.count >= index + 2 ? UInt16(octets[index]) | UInt16(octets[index + 1]) << 8 : nil
    }
}

/// A part of the playback with an order of its own.
enum Lane: Hashable, Sendable {
    /// Everything that belongs to no connection.
    case device
    /// A connection, by its number in the capture.
    case link(Int)
}

/// The kinds of HCI commands and events that a playback treats alike, whatever their version.
enum CommandFamily: Hashable, Sendable {
    case scan, advertise, connect, cancelConnection

    private static let opcodes: [UInt16: CommandFamily] = [
        0x200C: .scan, 0x2042: .scan, 0x200A: .advertise, 0x2039: .advertise, 0x200D: .connect, 0x2043: .connect,
        0x2085: .connect, 0x200E: .cancelConnection,
    ]

    /// The family of a command, if it starts or cancels something that goes on afterwards.
    init?(_ opcode: Opcode) {
        guard let family = Self.opcodes[opcode.rawValue] else { return nil }
        self = family
    }

    /// Whether a command of this family starts rather than stops the activity.
    func starts(_ command: HCIPacket) -> Bool {
        switch self {
        case .connect: true
        case .cancelConnection: false
        case .scan, .advertise: command.bytes.count > 3 && command.bytes[3] == 1
        }
    }

    /// The commands of version 4.0, which a host uses instead of those for extended advertising, never beside them
    /// (Core Vol 4 Part E 3.1.1).
    static let legacy: Set<UInt16> = [0x2006, 0x2008, 0x2009, 0x200A, 0x200B, 0x200C, 0x200D]
    static let extended: Set<UInt16> = [0x2036, 0x2037, 0x2038, 0x2039, 0x2041, 0x2042, 0x2043, 0x2085]
}
