import BluetoothTypes

/// The device that an HCI packet is about, as far as the packet names it.
package enum PacketPeer: Hashable, Sendable {
    case link(ConnectionHandle)
    case address(BluetoothAddress)
}

extension HCIPacket {
    /// The device that the packet is about; of several, the first. Nil if there is none, or it is not known where the
    /// packet names it.
    package var peer: PacketPeer? {
        switch kind {
        case .acl, .synchronous, .isochronous: link(at: 0)
        case .command: commandPeer
        case .event: eventPeer
        }
    }

    private var commandPeer: PacketPeer? {
        guard let opcode = bytes.word(at: 0) else { return nil }
        if Self.linkCommands.contains(opcode) { return link(at: 3) }
        return Self.addressCommands[opcode].flatMap { address(at: $0) }
    }

    /// The commands that begin with a handle (Core Vol 4 Part E 7).
    private static let linkCommands: Set<UInt16> = [
        0x0406, 0x041D, 0x0C7B, 0x0C7C, 0x1405, 0x2013, 0x2015, 0x2016, 0x2019, 0x201A, 0x201B, 0x2020, 0x2021, 0x2022,
        0x2030, 0x2032, 0x205A, 0x205B, 0x206D, 0x2076, 0x207E,
    ]
    /// The position of the peer's address type in commands that have one.
    private static let addressCommands: [UInt16: Int] = [
        0x200D: 8, 0x2011: 3, 0x2012: 3, 0x2027: 3, 0x2028: 3, 0x202B: 3, 0x202C: 3, 0x2043: 5, 0x204E: 3, 0x2085: 7,
    ]

    private var eventPeer: PacketPeer? {
        guard bytes.count > 2 else { return nil }
        switch bytes[0] {
        case 0x05, 0x08, 0x0C, 0x13, 0x30, 0x59: return link(at: 3)
        case 0x57: return link(at: 2)
        case 0x3E: break
        default: return nil
        }
        switch bytes[2] {
        // Reports begin with their number and the type of the event; the latter has two octets in extended ones.
        case 0x02, 0x0B: return address(at: 5)
        case 0x0D: return address(at: 6)
        // The peer of a new connection.
        case 0x01, 0x0A, 0x29: return bytes.count > 3 && bytes[3] == 0 ? address(at: 7) : nil
        // The handle follows a status in these, and the subevent code in the next ones.
        case 0x03, 0x04, 0x0C, 0x1F, 0x23: return link(at: 4)
        case 0x05, 0x06, 0x07, 0x14: return link(at: 3)
        default: return nil
        }
    }

    private func link(at index: Int) -> PacketPeer? {
        bytes.word(at: index).map { .link(ConnectionHandle(rawValue: $0 & 0xFFF)) }
    }

    /// Returns the address that follows its type.
    private func address(at index: Int) -> PacketPeer? {
        guard bytes.count >= index + 7 else { return nil }
        let value = (1...6).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[index + $1]) }
        return .address(BluetoothAddress(value, kind: BluetoothAddress.Kind(rawValue: bytes[index])))
    }
}

extension PacketBuffer {
    /// The two octets from `index` on as a little-endian integer; nil if they are not there.
    func word(at index: Int) -> UInt16? {
        guard count > index + 1 else { return nil }
        return UInt16(self[index]) | UInt16(self[index + 1]) << 8
    }
}
