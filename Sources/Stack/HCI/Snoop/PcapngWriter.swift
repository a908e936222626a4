import BluetoothTypes

/// An encoder for pcapng, which holds packets of several kinds in one file (IETF draft-ietf-opsawg-pcapng). The caller
/// writes the octets to a file. ``CaptureReader`` reads them.
///
/// Integers are in little-endian order, and times are in microseconds.
package enum PcapngWriter {
    /// The contents of the packets on one interface, by the number in the list of link types.
    package enum LinkType: UInt16, Sendable {
        /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: a direction, and an HCI packet with its type.
        case hci = 201
        /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: a pseudo-header, and a frame of the link layer.
        case air = 256
    }

    /// The types of blocks (sections 4.1 to 4.3).
    private enum Block {
        static let sectionHeader: UInt32 = 0x0A0D_0D0A
        static let interfaceDescription: UInt32 = 1
        static let enhancedPacket: UInt32 = 6
    }

    /// Readers detect the byte order of a section from it.
    package static let magic: UInt32 = 0x1A2B_3C4D
    /// The maximum length of a packet, which no packet of Bluetooth exceeds by more than its header.
    package static let snapLength: UInt32 = 65_535
    /// The length of a packet's block before the packet: type, length, interface, time, and two lengths of the packet.
    package static let packetHeaderSize = 28
    /// The maximum length of a comment, in octets. Longer ones are cut off.
    package static let maximumComment = 248
    /// The option `opt_comment` of a packet.
    private static let commentOption: UInt16 = 1

    /// Returns the header of a file with these interfaces, numbered from 0 in their order.
    package static func header(_ interfaces: [LinkType]) -> [UInt8] {
        var section = PacketBuffer(headroom: 0, capacity: 16)
        section.append(integer: magic)
        // Version 1.0, and a section of unknown length.
        section.append(integer: UInt16(1))
        section.append(integer: UInt16(0))
        section.append(integer: UInt64.max)
        return interfaces.reduce(block(Block.sectionHeader, section)) { octets, linkType in
            // Times are in microseconds unless an option says otherwise.
            var interface = PacketBuffer(headroom: 0, capacity: 8)
            interface.append(integer: linkType.rawValue)
            interface.append(integer: UInt16(0))
            interface.append(integer: snapLength)
            return octets + block(Block.interfaceDescription, interface)
        }
    }

    /// Returns the record of a packet.
    ///
    /// - Parameters:
    ///   - octets: The packet in the form of the interface's link type.
    ///   - interface: The number of the interface.
    ///   - unixMicroseconds: The time in microseconds since the Unix epoch. A negative one is written as 0.
    ///   - comment: A text that readers show beside the packet.
    package static func record(
        _ octets: some Collection<UInt8>,
        on interface: UInt32,
        at unixMicroseconds: Int64,
        comment: String? = nil
    ) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: octets.count)
        let time = UInt64(max(unixMicroseconds, 0))
        var body = PacketBuffer(headroom: 0, capacity: packetHeaderSize + Int(length))
        body.append(integer: interface)
        body.append(integer: UInt32(truncatingIfNeeded: time >> 32))
        body.append(integer: UInt32(truncatingIfNeeded: time))
        body.append(integer: length)
        body.append(integer: length)
        body.append(contentsOf: octets)
        pad(&body)
        if let comment { append(comment: comment, to: &body) }
        return block(Block.enhancedPacket, body)
    }

    /// Returns an HCI packet in the form of ``LinkType/hci``.
    package static func content(of packet: HCIPacket, _ direction: HCIDirection) -> [UInt8] {
        // The direction is an integer in big-endian order.
        [0, 0, 0, direction == .controllerToHost ? 1 : 0, packet.kind.rawValue] + packet.bytes.bytes
    }

    private static func append(comment: String, to body: inout PacketBuffer) {
        var comment = comment
        while comment.utf8.count > maximumComment { comment.removeLast() }
        body.append(integer: commentOption)
        body.append(integer: UInt16(comment.utf8.count))
        body.append(contentsOf: comment.utf8)
        pad(&body)
        // The end of the options.
        body.append(integer: UInt32(0))
    }

    /// Pads to a multiple of four octets.
    private static func pad(_ body: inout PacketBuffer) {
        while body.count % 4 != 0 { body.append(0) }
    }

    /// Returns a block: its type, its total length, its body, and its total length again.
    private static func block(_ type: UInt32, _ body: PacketBuffer) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: 12 + body.count)
        var bytes = PacketBuffer(headroom: 0, capacity: Int(length))
        bytes.append(integer: type)
        bytes.append(integer: length)
        bytes.append(contentsOf: body.bytes)
        bytes.append(integer: length)
        return bytes.bytes
    }
}
