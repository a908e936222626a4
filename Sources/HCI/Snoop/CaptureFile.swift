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
/// HCI packets contain the keys of all links in the clear. The file is therefore created anew with mode 0600, never
/// through a symbolic link. An existing file is replaced, not overwritten, because another process may have it open.
package final class CaptureFile: Sendable {
    private static let attempts = 3
    private let file: Int32
    /// Whether the file header has been written. Several transports may write to one file, one after the other.
    private let isBegun = Atomic(false)

    /// Creates the file, and replaces an existing one that the user owns.
    ///
    /// - Throws: ``CaptureError`` if the file cannot be created or replaced.
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

    /// Removes an existing file if it is a regular file that the user owns.
    private static func remove(_ path: String) throws(CaptureError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // Another process has removed it.
            if errno == ENOENT { return }
            throw CaptureError(path, .system(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw CaptureError(path, .notAFile) }
        guard status.st_uid == geteuid() else { throw CaptureError(path, .notOurs) }
        guard unlink(path) == 0 || errno == ENOENT else { throw CaptureError(path, .system(errno)) }
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
    package func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(written, 0))
        }
    }
}

/// An error that prevents a capture.
package struct CaptureError: Error, Hashable, Sendable {
    /// The cause of the error.
    package enum Fault: Hashable, Sendable {
        /// A system call failed with this `errno`.
        case system(Int32)
        /// The path names a symbolic link or something else that is not a regular file.
        case notAFile
        /// The existing file belongs to another user.
        case notOurs
    }

    /// The path of the capture file.
    package var path: String
    /// The cause of the error.
    package var fault: Fault

    package init(_ path: String, _ fault: Fault) {
        self.path = path
        self.fault = fault
    }
}

extension CaptureError: CustomStringConvertible {
    /// The path, the cause, and what to do about it.
    package var description: String { "cannot write the capture \(path): \(reason)" }

    /// The cause and what to do about it, without the path.
    package var reason: String {
        switch fault {
        case .system(let code):
            "\(String(cString: strerror(code))); choose a file in a folder that exists and is writable"
        case .notAFile: "the path is a symbolic link or not a regular file; remove it or choose another path"
        case .notOurs: "the existing file belongs to another user; choose another path"
        }
    }
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

private func systemOpen(_ path: String) -> Int32 {
    // With `O_EXCL` a symbolic link counts as an existing file, whatever its target.
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
}

private func systemWrite(_ file: Int32, _ octets: UnsafeRawPointer?, _ count: Int) -> Int { write(file, octets, count) }
