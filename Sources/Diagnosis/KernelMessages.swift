import KernelLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The kernel's own log (`Documentation/ABI/testing/dev-kmsg` of Linux): one record for each read.
package enum KernelMessages {
    /// Records that are read, so that a kernel that never falls silent does not hold anybody up.
    static let maximumRecords = 100_000
    /// Octets of the longest record.
    private static let recordSize = 8_192

    /// The messages that speak of Bluetooth.
    package static func read() -> MachineFacts.Log {
        let file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return .unreadable }
        defer { close(file) }
        var lines: [String] = []
        var octets = [UInt8](repeating: 0, count: recordSize)
        for _ in 0..<maximumRecords {
            let count = octets.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, $0.count) }
            if count > 0 {
                if let line = KernelRecord.message(in: octets.prefix(count)) { lines.append(line) }
            } else if count == 0 || ![EPIPE, EINTR].contains(errno) {
                // EPIPE: the kernel has needed the room of a record that was not read yet.
                return count < 0 && errno == EPERM ? .unreadable : .lines(lines)
            }
        }
        return .lines(lines)
    }
}

private func systemRead(_ file: Int32, _ octets: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, octets, count)
}
