import BluetoothTypes

/// The format of Apple's PacketLogger, with the extension `.pklg`: records without a file header.
///
/// A record consists of its length without the length field, a time in seconds and microseconds, a type, and a packet
/// or text. PacketLogger writes big-endian integers; old iPhones wrote little-endian ones. The format is not published;
/// this is the layout that Wireshark reads.
struct PacketLoggerFormat: CaptureFormat {
    /// The length, the two parts of the time, and the type.
    private static let headerSize = 13
    /// The part of the header that the length of a record includes.
    private static let countedHeaderSize = 9
    /// The maximum length of a record, without the length field.
    private static let maximumLength: UInt32 = 65_535 + 9

    private enum Kind {
        static let command: UInt8 = 0x00
        static let event: UInt8 = 0x01
        static let sentData: UInt8 = 0x02
        static let receivedData: UInt8 = 0x03
        static let sentSynchronous: UInt8 = 0x08
        static let receivedSynchronous: UInt8 = 0x09
    }

    /// Commands, events and data; synchronous data and LMP packets; and messages of the kernel and of the Bluetooth
    /// system, notes, and the arrival of controllers.
    private static let knownKinds: [ClosedRange<UInt8>] = [0x00...0x03, 0x08...0x0B, 0xF0...0xFF]

    private let isBigEndian: Bool
    private(set) var hasBegun = false

    /// Detects the format by the length of the first record.
    ///
    /// - Returns: nil if the octets are no length of a record in either order.
    init?(start: FileOctets) {
        let lengths = UInt32(Self.countedHeaderSize)...Self.maximumLength
        let big = start.integer(UInt32.self, at: 0, isBigEndian: true)
        isBigEndian = lengths.contains(big)
        guard isBigEndian || lengths.contains(big.byteSwapped) else { return nil }
    }

    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep {
        guard let header = window.peek(Self.headerSize) else { return .incomplete }
        let offset = window.offset
        let kind = header[12]
        guard hasBegun || Self.knownKinds.contains(where: { $0.contains(kind) }) else {
            throw CaptureReadingError(.notACapture, at: 0)
        }
        hasBegun = true
        let counted = header.integer(UInt32.self, at: 0, isBigEndian: isBigEndian)
        guard (UInt32(Self.countedHeaderSize)...Self.maximumLength).contains(counted) else {
            throw CaptureReadingError(.length(UInt64(counted)), at: offset)
        }
        let length = Int(counted) + Self.headerSize - Self.countedHeaderSize
        guard let octets = window.peek(length) else { return .incomplete }
        let seconds = Int64(header.integer(UInt32.self, at: 4, isBigEndian: isBigEndian))
        let microseconds = Int64(header.integer(UInt32.self, at: 8, isBigEndian: isBigEndian))
        window.skip(UInt64(length))
        return .record(
            CaptureRecord(
                offset: offset,
                unixMicroseconds: seconds * 1_000_000 + microseconds,
                content: Self.content(kind, octets.packet(after: Self.headerSize))
            )
        )
    }

    private static func content(_ kind: UInt8, _ octets: PacketBuffer) -> CaptureRecord.Content {
        switch kind {
        case Kind.command: .hci(HCIPacket(.command, octets), .hostToController)
        case Kind.event: .hci(HCIPacket(.event, octets), .controllerToHost)
        case Kind.sentData: .hci(HCIPacket(.acl, octets), .hostToController)
        case Kind.receivedData: .hci(HCIPacket(.acl, octets), .controllerToHost)
        case Kind.sentSynchronous: .hci(HCIPacket(.synchronous, octets), .hostToController)
        case Kind.receivedSynchronous: .hci(HCIPacket(.synchronous, octets), .controllerToHost)
        default: .log(kind: kind, octets)
        }
    }
}
