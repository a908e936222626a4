import EventLoops
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A btsnoop or pcap file that grows with the packets. Each write is whole records, so a killed process leaves a readable file.
///
/// HCI packets have the keys of all links in the clear, so the file is made anew, for the user alone: mode 0600, never through a
/// link, and in place of an older one rather than into it, which others may have open.
package final class CaptureFile: Sendable {
    private static let attempts = 3
    private let file: Int32
    /// Whether the header is written: several lines, one after the other, go to one file.
    private let isBegun = Atomic(false)

    /// Makes the file. One of the user's that is there gives way.
    package init(path: String) throws(CaptureError) {
        file = try Self.make(path)
    }

    deinit { _ = close(file) }

    private static func make(_ path: String) throws(CaptureError) -> Int32 {
        for _ in 0..<attempts {
            let file = systemOpen(path)
            guard file < 0 else { return file }
            guard errno == EEXIST else { throw CaptureError(path, .system(errno)) }
            try remove(path)
        }
        throw CaptureError(path, .system(EEXIST))
    }

    /// Takes an older file away, if it is one that the user may have meant.
    private static func remove(_ path: String) throws(CaptureError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // Somebody else was quicker.
            if errno == ENOENT { return }
            throw CaptureError(path, .system(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw CaptureError(path, .notAFile) }
        guard status.st_uid == geteuid() else { throw CaptureError(path, .notOurs) }
        guard unlink(path) == 0 || errno == ENOENT else { throw CaptureError(path, .system(errno)) }
    }

    /// Says whether the file is still empty, the first time that it is asked.
    func begin() -> Bool { !isBegun.exchange(true, ordering: .relaxed) }

    /// Appends octets. A disk that is full ends the capture, not the program.
    package func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(written, 0))
        }
    }
}

/// Why a capture cannot be kept.
package struct CaptureError: Error, Hashable, Sendable {
    /// What is in the way.
    package enum Fault: Hashable, Sendable {
        /// The operating system says so, by this number.
        case system(Int32)
        /// There is something that is no ordinary file, or a link.
        case notAFile
        /// The file that is there belongs to somebody else.
        case notOurs
    }

    /// Where it was to be.
    package var path: String
    /// What is in the way.
    package var fault: Fault

    /// The given values.
    package init(_ path: String, _ fault: Fault) {
        self.path = path
        self.fault = fault
    }
}

extension CaptureError: CustomStringConvertible {
    /// What is in the way, and what to do.
    package var description: String { "cannot write the capture \(path): \(reason)" }

    /// The same without the path.
    package var reason: String {
        switch fault {
        case .system(let code):
            "\(String(cString: strerror(code))); name a file in a folder that exists and may be written to"
        case .notAFile: "there is a link, or something else that is no ordinary file; remove it, or name another file"
        case .notOurs: "the file that is there belongs to another user; name another file"
        }
    }
}

extension SnoopingTransport {
    /// Writes what passes to a file, with the time of day.
    package static func toFile(
        _ file: CaptureFile,
        _ transport: any HCITransport,
        end: HCIEnd,
        loop: any EventLoop
    ) -> SnoopingTransport {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: microseconds - loop.now.microseconds)
        if file.begin() { file.write(writer.header) }
        return SnoopingTransport(transport, end: end, loop: loop) { packet, direction, instant in
            file.write(writer.record(packet, direction, at: instant))
        }
    }
}

private func systemOpen(_ path: String) -> Int32 {
    // A link is an existing file to this, whatever it points to.
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
}

private func systemWrite(_ file: Int32, _ octets: UnsafeRawPointer?, _ count: Int) -> Int { write(file, octets, count) }
