import BluetoothTypes
import EventLoops
import Radio

/// Writes what a sniffer sees in a format that Wireshark opens: pcap with the link type
/// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR. Where the octets go is the caller's business, and so is the calendar.
///
/// Frames that the sniffer could not receive well have a wrong CRC, and are marked so; their octets are shown as they
/// were sent.
package struct AirCaptureWriter: Sendable {
    /// pcap with microseconds; the writer's byte order is told by it.
    static let magic: UInt32 = 0xA1B2_C3D4
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
    static let linkType: UInt32 = 256
    /// The longest record there may be; the longest that there is has 284 octets.
    static let snapLength: UInt32 = 65_535
    /// Octets in front of the frame within a record.
    static let pseudoHeaderSize = 10

    /// The bits of the pseudo-header's last field.
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

    /// A writer for a loop whose instant zero was so many microseconds after the beginning of 1970.
    package init(unixMicrosecondsAtZero: Int64) {
        self.unixMicrosecondsAtZero = unixMicrosecondsAtZero
    }

    /// What a file begins with.
    package var header: [UInt8] {
        var bytes = PacketBuffer(headroom: 0, capacity: 24)
        bytes.append(integer: Self.magic)
        // Version 2.4; time zone and accuracy are always 0.
        bytes.append(integer: UInt16(2))
        bytes.append(integer: UInt16(4))
        bytes.append(integer: UInt64(0))
        bytes.append(integer: Self.snapLength)
        bytes.append(integer: Self.linkType)
        return bytes.bytes
    }

    /// A frame as the file has it. Frames are given in the order in which they were on the air.
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
        // Nothing is wrong with the access address, whatever became of the rest.
        bytes.append(0)
        bytes.append(integer: frame.accessAddress)
        bytes.append(integer: flags(of: sniffed))
        bytes.append(contentsOf: content)
        return bytes.bytes
    }

    /// What was on the air, without the preamble and the coded PHY's terminators.
    private func contents(of frame: RadioFrame, isGood: Bool) -> [UInt8] {
        var octets = (0..<4).map { UInt8(truncatingIfNeeded: frame.accessAddress >> (8 * $0)) }
        // The coding indicator (Core Vol 6 Part B 2.2.3) has an octet of its own.
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
