import BluetoothTypes
import Foundation
import Logging
import Synchronization

/// Standard output and standard error, a whole line at a time from whatever thread, at once even into a pipe.
///
/// All that the tool says goes through here, and what comes from outside may be in any of it: so nothing that would steer the
/// terminal gets through, and a line is one line.
enum Console {
    private static let lock = Mutex(())

    static func line(_ text: String) {
        write(text, to: .standardOutput)
    }

    /// Several lines.
    static func lines(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: false) { line(String(part)) }
    }

    /// A line of JSON. What would not be seen is escaped as JSON has it, so that a program reads the same.
    static func json(_ text: String) {
        line(escaped(json: text))
    }

    static func escaped(json text: String) -> String {
        text.unicodeScalars.map { scalar in
            let shown = String(scalar)
            guard shown.visible != shown else { return shown }
            return shown.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }

    /// What went wrong.
    static func problem(_ text: String) {
        write(text, to: .standardError)
    }

    /// A line as it is written.
    static func octets(of text: String) -> Data { Data((text.visible + "\n").utf8) }

    private static func write(_ text: String, to handle: FileHandle) {
        lock.withLock { _ in
            // A reader that has gone away is no reason to fail.
            try? handle.write(contentsOf: octets(of: text))
        }
    }
}

/// Writes what the rooms below log to standard error: standard output is for what was asked for.
struct ConsoleLog: LogHandler {
    let label: String
    var logLevel = Logger.Level.critical
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { " \($0)=\($1)" }.sorted().joined()
        Console.problem("\(event.level) \(label):\(details) \(event.message)")
    }
}
