/// A reader for capture files: btsnoop with its datalinks for H1, H4 and Linux's monitor, pcapng, pcap, and the
/// format of Apple's PacketLogger.
///
/// The octets of the file may arrive in pieces of any length. The reader keeps less than one record of them between two
/// calls of ``next()``, so the length of a file does not matter.
package struct CaptureReader: Sendable {
    /// The longest record, in octets. Blocks of pcapng that contain no packets may be longer: they are skipped.
    package static let maximumRecord = 1 << 19
    /// The number of octets that determines the format.
    private static let signature = 4

    private var window = CaptureWindow()
    private var format: DetectedFormat?

    package init() {}

    /// The number of octets that are kept until the rest of their record arrives.
    package var buffered: Int { window.count }

    package mutating func receive(_ octets: some Collection<UInt8>) {
        window.append(octets)
    }

    /// Returns the next record, or nil if it has not arrived as a whole.
    ///
    /// - Throws: ``CaptureReadingError``. Nothing after the error can be read.
    package mutating func next() throws(CaptureReadingError) -> CaptureRecord? {
        try nextInPlace().map { $0.copied() }
    }

    /// Returns the next record without copying its octets, or nil if it has not arrived as a whole.
    ///
    /// The octets share the storage of all that arrived with them. To keep some of them, copy these; otherwise a whole
    /// piece of the file stays in memory.
    ///
    /// - Throws: ``CaptureReadingError``. Nothing after the error can be read.
    package mutating func nextInPlace() throws(CaptureReadingError) -> CaptureRecord? {
        if format == nil {
            guard let start = window.peek(Self.signature) else { return nil }
            format = try DetectedFormat(start)
        }
        while true {
            switch try format?.next(&window) {
            case .record(let record): return record
            case .nothing: continue
            case .incomplete, nil: return nil
            }
        }
    }

    /// Checks at the end of the file that it ends with a whole record.
    ///
    /// - Throws: ``CaptureReadingError/Fault/truncated`` if not, or ``CaptureReadingError/Fault/notACapture``.
    package func finish() throws(CaptureReadingError) {
        guard let format else { throw CaptureReadingError(.notACapture, at: 0) }
        guard window.isAtBoundary, format.hasBegun else { throw CaptureReadingError(.truncated, at: window.offset) }
    }
}

extension CaptureReader {
    /// Returns all records of a file in memory.
    ///
    /// - Throws: ``CaptureReadingError``.
    package static func records(of file: some Collection<UInt8>) throws(CaptureReadingError) -> [CaptureRecord] {
        var reader = CaptureReader()
        reader.receive(file)
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        try reader.finish()
        return records
    }
}

/// The result of a look at the octets that have arrived.
enum CaptureStep {
    case record(CaptureRecord)
    /// Octets that are no record were parsed.
    case nothing
    /// More octets are needed.
    case incomplete
}

/// A format of capture files. Another one is another type, and lines in ``DetectedFormat``.
protocol CaptureFormat: Sendable {
    /// Whether the header of the file has been parsed.
    var hasBegun: Bool { get }

    /// Parses the next header or record, and drops it from the window.
    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep
}

/// The format of a file. One of the properties is not nil.
///
/// Not an existential: each record would pass through two dynamic calls, and be copied on the way.
private struct DetectedFormat: Sendable {
    private var btsnoop: BTSnoopFormat?
    private var pcapng: PcapngFormat?
    private var pcap: PcapFormat?
    private var packetLogger: PacketLoggerFormat?

    init(_ start: FileOctets) throws(CaptureReadingError) {
        switch start.integer(UInt32.self, at: 0, isBigEndian: true) {
        // The start of "btsnoop".
        case 0x6274_736E: btsnoop = BTSnoopFormat()
        case PcapngFormat.sectionHeader: pcapng = PcapngFormat()
        case 0xA1B2_C3D4: pcap = PcapFormat(isBigEndian: true, ticksPerSecond: 1_000_000)
        case 0xD4C3_B2A1: pcap = PcapFormat(isBigEndian: false, ticksPerSecond: 1_000_000)
        case 0xA1B2_3C4D: pcap = PcapFormat(isBigEndian: true, ticksPerSecond: 1_000_000_000)
        case 0x4D3C_B2A1: pcap = PcapFormat(isBigEndian: false, ticksPerSecond: 1_000_000_000)
        default:
            packetLogger = PacketLoggerFormat(start: start)
            guard packetLogger != nil else { throw CaptureReadingError(.notACapture, at: 0) }
        }
    }

    var hasBegun: Bool {
        btsnoop?.hasBegun ?? pcapng?.hasBegun ?? pcap?.hasBegun ?? packetLogger?.hasBegun ?? false
    }

    mutating func next(_ window: inout CaptureWindow) throws(CaptureReadingError) -> CaptureStep? {
        if let step = try btsnoop?.next(&window) { return step }
        if let step = try pcapng?.next(&window) { return step }
        if let step = try pcap?.next(&window) { return step }
        return try packetLogger?.next(&window)
    }
}
