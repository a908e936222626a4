import BluetoothTypes
import EventLoops

/// The btsnoop capture file format: a header and records, with all integers in big-endian order.
///
/// It is the format of RFC 1761 with datalink types for Bluetooth. This implementation supports the one for H4.
package enum BTSnoop {
    /// The identification pattern: "btsnoop" and a zero.
    static let magic = PacketBuffer(Array("btsnoop".utf8) + [0])
    /// The version of the format.
    static let version: UInt32 = 1
    /// The datalink type of records that consist of the packet type and the packet.
    static let datalinkH4: UInt32 = 1002
    /// The length of the file header, in octets.
    static let headerSize = 16
    /// The length of a record header, in octets.
    static let recordHeaderSize = 24
    /// The Unix epoch in the time base of records, which count microseconds from the beginning of the year 0.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
    /// The maximum length of a packet. HCI has no longer ones, so a record that claims one is malformed.
    static let maximumPacketSize = 65_535 + 5

    /// A record of a capture file.
    package struct Record: Hashable, Sendable {
        /// The recorded packet, with its type.
        package var packet: HCIPacket
        /// The direction of the packet.
        package var direction: HCIDirection
        /// The time of the packet, in microseconds since the Unix epoch.
        package var unixMicroseconds: Int64
        /// The number of packets dropped from the capture since the beginning of the file.
        package var drops: UInt32

        package init(packet: HCIPacket, direction: HCIDirection, unixMicroseconds: Int64, drops: UInt32 = 0) {
            self.packet = packet
            self.direction = direction
            self.unixMicroseconds = unixMicroseconds
            self.drops = drops
        }
    }
}

/// An encoder for the ``BTSnoop`` format. The caller provides the time base and writes the octets to a file.
package struct BTSnoopWriter: Sendable {
    private let unixMicrosecondsAtZero: Int64

    /// Creates a writer.
    ///
    /// - Parameter unixMicrosecondsAtZero: The time of the event loop's instant zero, in microseconds since the Unix
    ///   epoch.
    package init(unixMicrosecondsAtZero: Int64) {
        self.unixMicrosecondsAtZero = unixMicrosecondsAtZero
    }

    /// The file header: magic number, version and datalink type.
    package var header: [UInt8] {
        var bytes = BTSnoop.magic
        bytes.append(integer: BTSnoop.version.byteSwapped)
        bytes.append(integer: BTSnoop.datalinkH4.byteSwapped)
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

/// A parser for the ``BTSnoop`` format.
package struct BTSnoopReader {
    private var reader: ByteReader

    /// Creates a reader for the contents of a whole file.
    ///
    /// - Throws: ``PacketError`` if the file has no valid header or a datalink type other than H4.
    package init(_ file: PacketBuffer) throws(PacketError) {
        reader = ByteReader(file)
        guard try reader.slice(BTSnoop.magic.count, at: "Identification Pattern") == BTSnoop.magic else {
            throw PacketError(.value(0), at: "Identification Pattern")
        }
        let version = try reader.integer(UInt32.self, at: "Version Number").byteSwapped
        guard version == BTSnoop.version else { throw PacketError(.value(UInt64(version)), at: "Version Number") }
        let datalink = try reader.integer(UInt32.self, at: "Datalink Type").byteSwapped
        guard datalink == BTSnoop.datalinkH4 else { throw PacketError(.value(UInt64(datalink)), at: "Datalink Type") }
    }

    /// Returns the next record, or nil at the end of the file.
    ///
    /// - Throws: ``PacketError`` if the record is truncated or does not contain an HCI packet.
    package mutating func next() throws(PacketError) -> BTSnoop.Record? {
        guard reader.remaining > 0 else { return nil }
        let original = try reader.integer(UInt32.self, at: "Original Length").byteSwapped
        let included = try reader.integer(UInt32.self, at: "Included Length").byteSwapped
        let flags = try reader.integer(UInt32.self, at: "Packet Flags").byteSwapped
        let drops = try reader.integer(UInt32.self, at: "Cumulative Drops").byteSwapped
        let time = try reader.integer(Int64.self, at: "Timestamp").byteSwapped
        guard included == original, included >= 1, included <= BTSnoop.maximumPacketSize else {
            throw PacketError(.length(Int(included)), at: "Included Length")
        }
        let bytes = try reader.slice(Int(included), at: "Packet Data")
        guard let kind = HCIPacket.Kind(rawValue: bytes[0]) else {
            throw PacketError(.value(UInt64(bytes[0])), at: "packet type")
        }
        return BTSnoop.Record(
            packet: HCIPacket(kind, bytes.suffix(after: 1)),
            direction: flags & 1 == 1 ? .controllerToHost : .hostToController,
            unixMicroseconds: time &- BTSnoop.unixEpoch,
            drops: drops
        )
    }
}
