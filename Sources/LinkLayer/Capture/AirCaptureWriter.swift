import BluetoothTypes
import EventLoops
import Radio

/// Formats the frames of a sniffer as a capture for Wireshark: pcapng with the link type
/// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
///
/// Each frame has the name of the device that sent it as its comment, which Wireshark shows and filters by, as
/// `frame.comment`. All frames are on one interface, because Wireshark follows a connection on one interface only.
///
/// The caller writes the bytes to a file and supplies the wall-clock time.
///
/// A frame that the sniffer received corrupted is marked as such and has a wrong CRC; its payload is shown as
/// transmitted.
package struct AirCaptureWriter: Sendable {
    /// The types of blocks (IETF draft-ietf-opsawg-pcapng, sections 4.1 to 4.3).
    private enum Block {
        static let sectionHeader: UInt32 = 0x0A0D_0D0A
        static let interfaceDescription: UInt32 = 1
        static let enhancedPacket: UInt32 = 6
    }

    /// Readers detect the byte order of a section from it.
    static let magic: UInt32 = 0x1A2B_3C4D
    /// The link type LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
    static let linkType: UInt16 = 256
    /// The maximum length of a frame. The longest in practice has 284 octets.
    static let snapLength: UInt32 = 65_535
    /// The option `opt_comment` of a packet.
    static let commentOption: UInt16 = 1
    /// The maximum length of a name in octets. Longer ones are cut off.
    static let maximumName = 248
    /// The length of a packet's block before the frame: type, length, interface, time, and two lengths of the frame.
    package static let packetHeaderSize = 28
    /// The length of the pseudo-header before the frame, in octets.
    package static let pseudoHeaderSize = 10

    /// The bits of the pseudo-header's flags.
    private enum Flag {
        static let isDewhitened: UInt16 = 0x0001
        static let hasSignal: UInt16 = 0x0002
        static let hasNoise: UInt16 = 0x0004
        static let hasReferenceAddress: UInt16 = 0x0010
        static let hasOffenses: UInt16 = 0x0020
        static let isChecked: UInt16 = 0x0400
        static let isGood: UInt16 = 0x0800
    }

    private let unixMicrosecondsAtZero: Int64
    private var directory = AirDirectory()

    /// Creates a writer.
    ///
    /// - Parameter unixMicrosecondsAtZero: The Unix time of the event loop's instant zero, in microseconds.
    package init(unixMicrosecondsAtZero: Int64) {
        self.unixMicrosecondsAtZero = unixMicrosecondsAtZero
    }

    /// The header of the capture file, and the description of its interface.
    package var header: [UInt8] {
        var section = PacketBuffer(headroom: 0, capacity: 16)
        section.append(integer: Self.magic)
        // Version 1.0, and a section of unknown length.
        section.append(integer: UInt16(1))
        section.append(integer: UInt16(0))
        section.append(integer: UInt64.max)
        // Times are in microseconds unless an option says otherwise.
        var interface = PacketBuffer(headroom: 0, capacity: 8)
        interface.append(integer: Self.linkType)
        interface.append(integer: UInt16(0))
        interface.append(integer: Self.snapLength)
        return Self.block(Block.sectionHeader, section) + Self.block(Block.interfaceDescription, interface)
    }

    /// Returns the record of a frame. Call it with frames in the order in which they started.
    ///
    /// - Parameter sender: The name of the sending device, if it is known.
    package mutating func record(_ sniffed: SniffedFrame, from sender: String? = nil) -> [UInt8] {
        let frame = sniffed.frame
        let content = contents(of: frame, isGood: !sniffed.isCorrupted)
        let length = UInt32(truncatingIfNeeded: Self.pseudoHeaderSize + content.count)
        let time = UInt64(max(unixMicrosecondsAtZero &+ sniffed.start.microseconds, 0))
        var body = PacketBuffer(headroom: 0, capacity: Self.packetHeaderSize + Int(length))
        // The number of the interface.
        body.append(integer: UInt32(0))
        body.append(integer: UInt32(truncatingIfNeeded: time >> 32))
        body.append(integer: UInt32(truncatingIfNeeded: time))
        body.append(integer: length)
        body.append(integer: length)
        body.append(RadioChannel.number(frame.channel))
        body.append(UInt8(bitPattern: sniffed.rssi))
        body.append(UInt8(bitPattern: sniffed.noise ?? 0))
        // There are no access address offenses: a frame's access address is always received correctly.
        body.append(0)
        body.append(integer: frame.accessAddress)
        body.append(integer: flags(of: sniffed))
        body.append(contentsOf: content)
        Self.pad(&body)
        if let sender { Self.append(comment: sender, to: &body) }
        return Self.block(Block.enhancedPacket, body)
    }

    private static func append(comment: String, to body: inout PacketBuffer) {
        var comment = comment
        while comment.utf8.count > maximumName { comment.removeLast() }
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

    /// Returns the frame as transmitted, without the preamble and the terminators of the Coded PHY.
    private func contents(of frame: RadioFrame, isGood: Bool) -> [UInt8] {
        var octets = (0..<4).map { UInt8(truncatingIfNeeded: frame.accessAddress >> (8 * $0)) }
        // The coding indicator (Core Vol 6 Part B 2.2.3) occupies an octet of its own.
        switch frame.phy {
        case .le1M, .le2M: break
        case .codedS8: octets.append(0b00)
        case .codedS2: octets.append(0b01)
        }
        octets += frame.pdu
        let check = CyclicRedundancyCheck.octets(of: frame.pdu, initial: frame.crcInit)
        octets += isGood ? check : check.map(~)
        return octets
    }

    private mutating func flags(of sniffed: SniffedFrame) -> UInt16 {
        var flags = Flag.isDewhitened | Flag.hasSignal | Flag.hasReferenceAddress | Flag.hasOffenses | Flag.isChecked
        if sniffed.noise != nil { flags |= Flag.hasNoise }
        if !sniffed.isCorrupted { flags |= Flag.isGood }
        switch sniffed.frame.phy {
        case .le1M: break
        case .le2M: flags |= 1 << 14
        case .codedS2, .codedS8: flags |= 2 << 14
        }
        return flags | directory.classify(sniffed).flags
    }
}
