import Logging
import ServiceStandIns
import Synchronization

/// The lines that the module logs, for all tests of the process. Tests run in parallel, so each looks for a line that
/// names its own object.
enum CapturedLog {
    private static let lines = Mutex<[String]>([])
    private static let bootstrap: Void = LoggingSystem.bootstrap { _ in Handler() }

    static func start() { bootstrap }

    /// Whether a line contains all of these parts.
    static func contains(_ parts: String...) -> Bool {
        lines.withLock { $0.contains { line in parts.allSatisfy { line.contains($0) } } }
    }

    private struct Handler: LogHandler {
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            CapturedLog.lines.withLock { $0.append("\(event.message)") }
        }
    }
}

extension StandInService {
    /// A service for the managers of a test that also reads ``CapturedLog``.
    static func logged() -> StandInService {
        CapturedLog.start()
        return StandInService()
    }
}
