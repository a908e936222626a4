import BluetoothTypes
import EventLoops
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A btsnoop or pcapng file that grows with each packet. Each write consists of whole records, so the file stays
/// readable if the process is killed.
///
/// HCI packets contain the keys of all links in the clear. The file is therefore an ``OutputFile`` that only its user
/// can read.
package final class CaptureFile: Sendable {
    private let file: OutputFile
    /// Whether the file header has been written. Several transports may write to one file, one after the other.
    private let isBegun = Atomic(false)

    /// Creates the file, and replaces an existing one that the user owns.
    ///
    /// - Parameter inputs: The files that the program reads, none of which may be replaced.
    package init(path: String, reading inputs: [String] = []) throws(OutputFile.Failure) {
        file = try OutputFile(path, appears: .atOnce, reading: inputs)
    }

    /// The time of day, in microseconds since the beginning of 1970, at the instant zero of a loop in real time.
    package static func unixMicrosecondsAtZero(of loop: any EventLoop) -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000 - loop.now.microseconds
    }

    /// Returns whether the caller must write the file header; true only for the first call.
    func begin() -> Bool { !isBegun.exchange(true, ordering: .relaxed) }

    /// Appends octets. If the disk is full, the capture stops and the program continues.
    package func write(_ bytes: [UInt8]) { try? file.write(bytes) }
}

extension SnoopingTransport {
    /// Returns a transport that forwards to `transport` and writes every packet to `file`, with the time of day.
    package static func toFile(
        _ file: CaptureFile,
        _ transport: any HCITransport,
        end: HCIEnd,
        loop: any EventLoop
    ) -> SnoopingTransport {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: CaptureFile.unixMicrosecondsAtZero(of: loop))
        if file.begin() { file.write(writer.header) }
        return SnoopingTransport(transport, end: end, loop: loop) { packet, direction, instant in
            file.write(writer.record(packet, direction, at: instant))
        }
    }
}
