import BluetoothTypes
import EventLoops

/// The file format that packet sniffers read: a header, then records, all numbers with the most significant octet first.
///
/// It is the format of RFC 1761 with Bluetooth's own datalink types, of which this is the one for H4.
package enum BTSnoop {
    /// The first octets of a file: "btsnoop" and a zero.
    static let magic = PacketBuffer(Array("btsnoop".utf8) + [0])
    /// The version of the format.
    static let version: UInt32 = 1
    /// Records are packets as on a serial line: the packet type, then the packet.
    static let datalinkH4: UInt32 = 1002
    /// Octets of the header.
    static let headerSize = 16
    /// Octets of a record before the packet.
    static let recordHeaderSize = 24
    /// Records count microseconds from the beginning of the year 0; this is how many there were at the beginning of 1970.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
    /// Packets longer than this are not believed: HCI has none.
    static let maximumPacketSize = 65_535 + 5

    /// A packet of a file.
    package struct Record: Hashable, Sendable {
        /// The packet.
        package var packet: HCIPacket
        /// Which way it went.
        package var direction: HCIDirection
        /// When, in microseconds since the beginning of 1970.
        package var unixMicroseconds: Int64
        /// How many packets were lost between the beginning of the file and this one.
        package var drops: UInt32

        /// A packet at a time.
        package init(packet: HCIPacket, direction: HCIDirection, unixMicroseconds: Int64, drops: UInt32 = 0) {
            self.packet = packet
            self.direction = direction
            self.unixMicroseconds = unixMicroseconds
            self.drops = drops
        }
    }
}

/// Writes packets in the format of ``BTSnoop``. Where the octets go is the caller's business, and so is the calendar.
package struct BTSnoopWriter: Sendable {
    private let unixMicrosecondsAtZero: Int64

    /// A writer for a loop whose instant zero was so many microseconds after the beginning of 1970.
    package init(unixMicrosecondsAtZero: Int64) {
        self.unixMicrosecondsAtZero = unixMicrosecondsAtZero
    }

    /// What a file begins with.
    package var header: [UInt8] {
        var bytes = BTSnoop.magic
        bytes.append(integer: BTSnoop.version.byteSwapped)
        bytes.append(integer: BTSnoop.datalinkH4.byteSwapped)
        return bytes.bytes
    }

    /// A packet as the file has it.
    ///
    /// `drops` is how many packets were lost since the beginning of the file.
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

/// Reads packets in the format of ``BTSnoop``.
package struct BTSnoopReader {
    private var reader: ByteReader

    /// Reads from a whole file.
    ///
    /// - Throws: ``PacketError`` when it does not begin as such a file, or is one of another datalink type than H4.
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

    /// The next packet; nil at the end of the file.
    ///
    /// - Throws: ``PacketError`` when the file ends within a record, or the record is not one of an HCI packet.
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
