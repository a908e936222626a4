import Foundation
import Logging
import ServiceProcess

/// The log of a service, for the service manager or the user at the terminal.
enum ServiceLog {
    /// Logs notices, warnings and errors to standard error.
    static let logger: Logger = {
        let form: ServiceLogForm = ServiceLogForm.isJournal() ? .journal : .terminal
        return Logger(label: "harald.service") { _ in
            ServiceLogHandler(form) { lines.add($0, isError: $1) }
        }
    }()

    private static let lines = LogLineQueue { Console.problem($0) }

    /// Waits at most a second for the queued lines to be written, because standard error may be an unread pipe.
    static func finish() { lines.finish(within: 1) }
}

/// The format of log lines.
enum ServiceLogForm: Hashable, Sendable {
    /// With the priority as a prefix, for journald (sd-daemon(3)).
    case journal
    /// With the name of the level.
    case terminal

    /// Whether standard error is the journal: `JOURNAL_STREAM` holds its device and inode (systemd.exec(5)). The
    /// inherited variable alone does not count, because standard error may have been redirected.
    static func isJournal(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        descriptor: Int32 = STDERR_FILENO
    ) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"], let file = FileIdentity(of: descriptor) else { return false }
        return stream == "\(file.device):\(file.inode)"
    }

    func line(_ level: Logger.Level, _ text: String) -> String {
        switch self {
        case .journal: "<\(level.priority)>\(text)"
        case .terminal: "harald: \(level): \(text)"
        }
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// Formats the log events of a service as lines.
struct ServiceLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    private let form: ServiceLogForm
    private let write: @Sendable (_ line: String, _ isError: Bool) -> Void

    init(_ form: ServiceLogForm, write: @escaping @Sendable (_ line: String, _ isError: Bool) -> Void) {
        self.form = form
        self.write = write
    }

    func log(event: LogEvent) {
        let details = metadata.merging(event.metadata ?? [:]) { $1 }.map { " \($0)=\($1)" }.sorted().joined()
        write(form.line(event.level, "\(event.message)\(details)"), event.level >= .error)
    }
}
