import Logging
import Synchronization

/// A log handler that records each entry's level, text and metadata.
package struct LogLines: LogHandler {
    private let lines = Lines()
    package var logLevel = Logger.Level.trace
    package var metadata = Logger.Metadata()
    package var metadataProvider: Logger.MetadataProvider?

    package init() {}

    package var all: [String] { lines.kept.withLock { $0 } }

    /// Removes the entries recorded so far.
    package func clear() {
        lines.kept.withLock { $0.removeAll() }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
        let suffix = details.isEmpty ? "" : " [\(details.joined(separator: ", "))]"
        lines.kept.withLock { $0.append("\(event.level): \(event.message)\(suffix)") }
    }

    private final class Lines: Sendable {
        let kept = Mutex<[String]>([])
    }
}
