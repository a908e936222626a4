import Foundation
import HCITransports

/// The kernel's log (`Documentation/ABI/testing/dev-kmsg` of Linux). Each read returns one record.
enum KernelMessages {
    /// Limits how many records are read, so that a kernel that keeps logging cannot block the caller.
    static let maximumRecords = 100_000
    /// The maximum size of a record, in octets.
    private static let recordSize = 8_192

    /// Returns the log lines that mention Bluetooth.
    static func read() -> MachineFacts.Log {
        let file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return .unreadable }
        defer { close(file) }
        var lines: [String] = []
        var octets = [UInt8](repeating: 0, count: recordSize)
        for _ in 0..<maximumRecords {
            let count = octets.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
            if count > 0 {
                if let line = KernelRecord.message(in: octets.prefix(count)) { lines.append(line) }
            } else if count == 0 || ![EPIPE, EINTR].contains(errno) {
                // EPIPE: the kernel overwrote a record before it was read.
                return count < 0 && errno == EPERM ? .unreadable : .lines(lines)
            }
        }
        return .lines(lines)
    }
}
