import BluetoothTypes
import HCI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The controller of a capture: a btsnoop, pcapng, pcap or PacketLogger file of HCI packets, of any stack.
///
/// As the controller of a device it answers what the device's stack sends with what it answered in the capture.
public struct CapturedController: Sendable {
    let script: CaptureScript
    /// The number of HCI packets in the capture.
    public let packets: Int
    /// The time between the first and the last packet of the capture.
    public let duration: Duration

    /// Reads a capture in memory.
    ///
    /// A last record that is cut off, as in the capture of a process that was killed, is ignored.
    ///
    /// - Parameter octets: The contents of the file.
    /// - Throws: ``CapturedControllerError``.
    public init(octets: some Collection<UInt8>) throws(CapturedControllerError) {
        var (reader, records) = (CaptureReader(), [CaptureRecord]())
        reader.receive(octets)
        try Self.parse(&reader, into: &records)
        try self.init(records, reader)
    }

    /// The longest file that is played back, in octets. All of it is in memory (AB-F04).
    static let maximumLength = 1 << 29

    /// Reads a capture file.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: ``CapturedControllerError``.
    public init(contentsOfFile path: String) throws(CapturedControllerError) {
        try self.init(contentsOfFile: path, atMost: Self.maximumLength)
    }

    init(contentsOfFile path: String, atMost limit: Int) throws(CapturedControllerError) {
        let file: Int32
        do throws(PlainFile.Fault) {
            file = try PlainFile.open(path)
        } catch {
            throw CapturedControllerError(reason: "\(path): \(error)")
        }
        defer { _ = close(file) }
        var (reader, records, length) = (CaptureReader(), [CaptureRecord](), 0)
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = systemRead(file, &piece, piece.count)
            guard count >= 0 || errno != EINTR else { continue }
            guard count >= 0 else {
                throw CapturedControllerError(reason: "\(path): \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { break }
            length += count
            guard length <= limit else {
                throw CapturedControllerError(reason: "\(path) is longer than \(limit) octets")
            }
            reader.receive(piece.prefix(count))
            try Self.parse(&reader, into: &records)
        }
        try self.init(records, reader)
    }

    private static func parse(
        _ reader: inout CaptureReader,
        into records: inout [CaptureRecord]
    ) throws(CapturedControllerError) {
        do throws(CaptureReadingError) {
            while let record = try reader.next() { if record.packet != nil { records.append(record) } }
        } catch {
            throw CapturedControllerError(reason: "\(error)")
        }
    }

    private init(_ records: [CaptureRecord], _ reader: CaptureReader) throws(CapturedControllerError) {
        do throws(CaptureReadingError) {
            try reader.finish()
        } catch {
            guard error.fault == .truncated, !records.isEmpty else { throw CapturedControllerError(reason: "\(error)") }
        }
        guard let first = records.first, let last = records.last else {
            throw CapturedControllerError(reason: "the capture has no HCI packets, so there is no controller to play")
        }
        script = CaptureScript(records)
        if script.handles.isEmpty, let handle = script.handlesWithoutBeginning.keys.min() {
            let number = "0x" + String(handle, radix: 16)
            throw CapturedControllerError(
                reason: "it begins in the middle of the connection \(number) and holds the beginning of none, so no "
                    + "device could connect; begin the capture before the connection"
            )
        }
        packets = records.count
        duration = .microseconds(max(0, last.unixMicroseconds &- first.unixMicroseconds))
    }
}

/// The reason why a capture cannot be played back.
public struct CapturedControllerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason in words.
    public let reason: String

    /// The reason in words.
    public var description: String { "cannot play back the capture: \(reason)" }
}

private func systemRead(_ file: Int32, _ octets: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(file, octets, count)
}
