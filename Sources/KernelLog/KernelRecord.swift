/// A record of the kernel's log as `/dev/kmsg` has it: a header, a semicolon, a line, and more lines for programs
/// (`Documentation/ABI/testing/dev-kmsg` of Linux).
package enum KernelRecord {
    /// The line, if it speaks of Bluetooth.
    package static func message(in record: some Collection<UInt8>) -> String? {
        let text = String(decoding: record, as: UTF8.self)
        guard let start = text.firstIndex(of: ";") else { return nil }
        let line = text[text.index(after: start)...].prefix { $0 != "\n" }
        return line.lowercased().contains("bluetooth") ? String(line) : nil
    }
}
