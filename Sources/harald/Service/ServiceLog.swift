import Foundation
import Logging
import ServiceProcess

/// The log of a service: what its manager, or the person at the terminal, wants to know.
enum ServiceLog {
    /// Notices, warnings and errors, on standard error.
    static let logger: Logger = {
        let form: ServiceLogForm = ServiceLogForm.isJournal() ? .journal : .terminal
        return Logger(label: "harald.service") { _ in
            ServiceLogHandler(form) { lines.add($0, isError: $1) }
        }
    }()

    private static let lines = LogLineQueue { Console.problem($0) }

    /// Waits until what was logged is written, a moment at most: standard error may be a pipe that nobody reads.
    static func finish() { lines.finish(within: 1) }
}

/// How lines are written.
enum ServiceLogForm: Hashable, Sendable {
    /// With the priority in front, as journald reads it (sd-daemon(3)).
    case journal
    /// With the level in words.
    case terminal

    /// Whether standard error is the journal: `JOURNAL_STREAM` has its device and inode (systemd.exec(5)). A program that was started with
    /// that variable and writes somewhere else does not count.
    static func isJournal(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        descriptor: Int32 = STDERR_FILENO
    ) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"], let file = FileIdentity(of: descriptor) else { return false }
        return stream == "\(file.device):\(file.inode)"
    }

    /// A line.
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
