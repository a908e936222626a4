/// A record of the kernel log as read from `/dev/kmsg`: a header, a semicolon, a line of text, and further lines of
/// key-value pairs for programs (`Documentation/ABI/testing/dev-kmsg` of Linux).
package enum KernelRecord {
    /// Returns the record's text if it mentions Bluetooth; nil otherwise.
    package static func message(in record: some Collection<UInt8>) -> String? {
        let text = String(decoding: record, as: UTF8.self)
        guard let start = text.firstIndex(of: ";") else { return nil }
        let line = text[text.index(after: start)...].prefix { $0 != "\n" }
        return line.lowercased().contains("bluetooth") ? String(line) : nil
    }
}
