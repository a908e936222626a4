import BluetoothTypes
import EventLoops
import Radio

/// Formats the frames of a sniffer as a capture for Wireshark: pcap with the link type
/// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
///
/// The caller writes the bytes to a file and supplies the wall-clock time.
///
/// A frame that the sniffer received corrupted is marked as such and has a wrong CRC; its payload is shown as
/// transmitted.
package struct AirCaptureWriter: Sendable {
    /// The magic number of pcap with microseconds. Readers detect the byte order from it.
    static let magic: UInt32 = 0xA1B2_C3D4
    /// The link type LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
    static let linkType: UInt32 = 256
    /// The maximum length of a record. The longest in practice has 284 octets.
    static let snapLength: UInt32 = 65_535
    /// The length of the pseudo-header before the frame, in octets.
    static let pseudoHeaderSize = 10

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

    /// The header of the capture file.
    package var header: [UInt8] {
        var bytes = PacketBuffer(headroom: 0, capacity: 24)
        bytes.append(integer: Self.magic)
        // Version 2.4. Time zone and accuracy are always 0.
        bytes.append(integer: UInt16(2))
        bytes.append(integer: UInt16(4))
        bytes.append(integer: UInt64(0))
        bytes.append(integer: Self.snapLength)
        bytes.append(integer: Self.linkType)
        return bytes.bytes
    }

    /// Returns the record of a frame. Call it with frames in the order in which they started.
    package mutating func record(_ sniffed: SniffedFrame) -> [UInt8] {
        let frame = sniffed.frame
        let content = contents(of: frame, isGood: !sniffed.isCorrupted)
        let length = UInt32(truncatingIfNeeded: Self.pseudoHeaderSize + content.count)
        let time = max(unixMicrosecondsAtZero &+ sniffed.start.microseconds, 0)
        var bytes = PacketBuffer(headroom: 0, capacity: 16 + Int(length))
        bytes.append(integer: UInt32(truncatingIfNeeded: time / 1_000_000))
        bytes.append(integer: UInt32(truncatingIfNeeded: time % 1_000_000))
        bytes.append(integer: length)
        bytes.append(integer: length)
        bytes.append(RadioChannel.number(frame.channel))
        bytes.append(UInt8(bitPattern: sniffed.rssi))
        bytes.append(UInt8(bitPattern: sniffed.noise ?? 0))
        // There are no access address offenses: a frame's access address is always received correctly.
        bytes.append(0)
        bytes.append(integer: frame.accessAddress)
        bytes.append(integer: flags(of: sniffed))
        bytes.append(contentsOf: content)
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
