import BluetoothTypes
import EventLoops
import HCI

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
    /// The length of the pseudo-header before the frame, in octets.
    package static let pseudoHeaderSize = 10

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
    package var header: [UInt8] { PcapngWriter.header([.air]) }

    /// Returns the record of a frame. Call it with frames in the order in which they started.
    ///
    /// - Parameter sender: The name of the sending device, if it is known.
    package mutating func record(_ sniffed: SniffedFrame, from sender: String? = nil) -> [UInt8] {
        let time = unixMicrosecondsAtZero &+ sniffed.start.microseconds
        return PcapngWriter.record(content(of: sniffed).bytes, on: 0, at: time, comment: sender)
    }

    /// Returns a frame in the form of ``PcapngWriter/LinkType/air``. Call it with frames in the order in which they
    /// started.
    package mutating func content(of sniffed: SniffedFrame) -> PacketBuffer {
        let frame = sniffed.frame
        let octets = Self.octets(of: frame, isGood: !sniffed.isCorrupted)
        var content = PacketBuffer(headroom: 0, capacity: Self.pseudoHeaderSize + octets.count)
        content.append(RadioChannel.number(frame.channel))
        content.append(UInt8(bitPattern: sniffed.rssi))
        content.append(UInt8(bitPattern: sniffed.noise ?? 0))
        // There are no access address offenses: a frame's access address is always received correctly.
        content.append(0)
        content.append(integer: frame.accessAddress)
        content.append(integer: flags(of: sniffed))
        content.append(contentsOf: octets)
        return content
    }

    /// Returns the frame as transmitted, without the preamble and the terminators of the Coded PHY.
    private static func octets(of frame: RadioFrame, isGood: Bool) -> [UInt8] {
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

/// The CRC at the end of each PDU (Core Vol 6 Part B 3.1.1): x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1.
///
/// Only captures contain it. Virtual controllers need none, since the simulated radio reports whether a frame is
/// corrupted.
package enum CyclicRedundancyCheck {
    /// The initial value in advertising, where no PDU tells it (Core Vol 6 Part B 3.1.1).
    package static let advertisingInitial = AdvertisingPDU.crcInit

    /// The polynomial with its lowest power in the highest bit, since octets are sent with the lowest bit first.
    private static let polynomial: UInt32 = 0xDA_6000
    /// The effect of each octet on the register.
    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    }

    /// Returns the three CRC octets of a PDU in the order in which they are sent.
    package static func octets(of pdu: [UInt8], initial: UInt32) -> [UInt8] {
        var register = reversed(initial)
        for octet in pdu {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ octet)]
        }
        return (0..<3).map { UInt8(truncatingIfNeeded: register >> (8 * $0)) }
    }

    private static func reversed(_ value: UInt32) -> UInt32 {
        (0..<24).reduce(0) { $0 << 1 | value >> UInt32($1) & 1 }
    }
}
