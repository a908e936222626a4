import BluetoothTypes
import EventLoops

/// The btsnoop capture file format: a header and records, with all integers in big-endian order.
///
/// It is the format of RFC 1761 with datalink types for Bluetooth. ``BTSnoopWriter`` writes the one for H4, and
/// ``CaptureReader`` reads all of them.
package enum BTSnoop {
    /// The identification pattern: "btsnoop" and a zero.
    static let magic = PacketBuffer(Array("btsnoop".utf8) + [0])
    static let version: UInt32 = 1
    /// The contents of records, named as in the list of datalink types.
    enum Datalink: UInt32, Sendable {
        /// Records that consist of the packet. The flags of a record tell its type.
        case h1 = 1001
        /// Records that consist of the packet type and the packet.
        case h4 = 1002
        /// Records of Linux's monitor. The flags of a record contain its opcode and the adapter.
        case monitor = 2001
    }

    static let headerSize = 16
    static let recordHeaderSize = 24
    /// The Unix epoch in the time base of records, which count microseconds from the beginning of the year 0.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
    /// The maximum length of a packet. HCI has no longer ones, so a record that claims one is malformed.
    static let maximumPacketSize = 65_535 + 5
}

/// An encoder for the ``BTSnoop`` format. The caller provides the time base and writes the octets to a file.
package struct BTSnoopWriter: Sendable {
    private let unixMicrosecondsAtZero: Int64

    /// Creates a writer.
    ///
    /// - Parameter unixMicrosecondsAtZero: The time of the event loop's instant zero, in microseconds since the Unix
    ///   epoch.
    package init(unixMicrosecondsAtZero: Int64) { self.unixMicrosecondsAtZero = unixMicrosecondsAtZero }

    /// The file header: magic number, version and datalink type.
    package var header: [UInt8] {
        var bytes = BTSnoop.magic
        bytes.append(integer: BTSnoop.version.byteSwapped)
        bytes.append(integer: BTSnoop.Datalink.h4.rawValue.byteSwapped)
        return bytes.bytes
    }

    /// Returns the record of a packet.
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - direction: The direction of the packet.
    ///   - instant: The time of the packet, on the event loop's clock.
    ///   - drops: The number of packets dropped from the capture since the beginning of the file.
    package func record(
        _ packet: HCIPacket,
        _ direction: HCIDirection,
        at instant: Instant,
        drops: UInt32 = 0
    ) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: packet.bytes.count + 1)
        var flags: UInt32 = direction == .controllerToHost ? 1 : 0
        if packet.kind == .command || packet.kind == .event { flags |= 2 }
        let time = BTSnoop.unixEpoch &+ unixMicrosecondsAtZero &+ instant.microseconds
        var bytes = PacketBuffer(headroom: 0, capacity: BTSnoop.recordHeaderSize + packet.bytes.count + 1)
        bytes.append(integer: length.byteSwapped)
        bytes.append(integer: length.byteSwapped)
        bytes.append(integer: flags.byteSwapped)
        bytes.append(integer: drops.byteSwapped)
        bytes.append(integer: time.byteSwapped)
        bytes.append(packet.kind.rawValue)
        bytes.append(contentsOf: packet.bytes)
        return bytes.bytes
    }
}
