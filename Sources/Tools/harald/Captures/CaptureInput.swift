import BluetoothTypes
import Foundation
import HCI

/// A capture file that is read piece by piece, with the progress on a terminal.
struct CaptureInput {
    /// The number of octets that are read at a time.
    private static let piece = 1 << 18
    /// Files up to this length need no progress.
    private static let quickLength: Int64 = 64 << 20

    /// The path of the file; `-` for standard input.
    let path: String
    /// Whether the file is read twice, which a pipe cannot be.
    var isReadAgain = false

    /// Whether the path leads to a regular file, which can be read more than once.
    var isFile: Bool {
        var status = stat()
        return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads the records in order.
    ///
    /// A last record that is cut off, as in the capture of a process that was killed, is ignored.
    ///
    /// - Parameters:
    ///   - inPlace: Whether records share the octets that were read with them. Then `body` may keep none of these.
    ///   - pause: Called before more of the file is read, and before an error is thrown.
    /// - Returns: Whether the file ends within a record.
    /// - Throws: ``ToolError`` if the file cannot be read, or with the first error of `body`.
    func read(
        inPlace: Bool = false,
        pause: () -> Void = {},
        _ body: (CaptureRecord) throws(ToolError) -> Void
    ) throws(ToolError) -> Bool {
        let file = path == "-" ? STDIN_FILENO : try opened()
        defer { if path != "-" { _ = close(file) } }
        var progress = Progress(file)
        var (reader, octets) = (CaptureReader(), [UInt8](repeating: 0, count: Self.piece))
        var hasRecords = false
        while let count = try next(file, &octets) {
            reader.receive(octets[..<count])
            progress.advance(count)
            defer { pause() }
            while let record = try record(&reader, inPlace) {
                hasRecords = true
                try body(record)
            }
        }
        do throws(CaptureReadingError) {
            try reader.finish()
            return false
        } catch {
            guard hasRecords, error.fault == .truncated else { throw failure("\(error)") }
            return true
        }
    }

    private func opened() throws(ToolError) -> Int32 {
        do throws(PlainFile.Fault) {
            if isReadAgain { return try PlainFile.open(path) }
        } catch {
            throw failure("\(error)")
        }
        let file = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        return file
    }

    private func next(_ file: Int32, _ octets: inout [UInt8]) throws(ToolError) -> Int? {
        while true {
            let count = Foundation.read(file, &octets, octets.count)
            if count > 0 { return count }
            if count == 0 { return nil }
            guard errno == EINTR else { throw failure(String(cString: strerror(errno))) }
        }
    }

    private func record(_ reader: inout CaptureReader, _ inPlace: Bool) throws(ToolError) -> CaptureRecord? {
        do throws(CaptureReadingError) {
            return inPlace ? try reader.nextInPlace() : try reader.next()
        } catch {
            throw failure("\(error)")
        }
    }

    private func failure(_ reason: String) -> ToolError {
        .incomplete("cannot read the capture \(path == "-" ? "on standard input" : path.quotedText): \(reason)")
    }

    /// The share of a long file that has been read. Shown on a terminal only.
    private struct Progress {
        private let total: Int64?
        private var done: Int64 = 0
        private var tenths: Int64 = 0

        init(_ file: Int32) {
            var status = stat()
            let isLong =
                isatty(STDERR_FILENO) != 0 && fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                && status.st_size > CaptureInput.quickLength
            total = isLong ? Int64(status.st_size) : nil
        }

        mutating func advance(_ count: Int) {
            done += Int64(count)
            guard let total, done * 10 / total > tenths else { return }
            tenths = done * 10 / total
            Console.problem("harald: \(tenths * 10) % of \(total >> 20) MB read")
        }
    }
}
