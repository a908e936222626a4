/// Writes messages of one part of an app.
public struct Logger: Sendable {
    private let log: OSLog

    /// The messages of a part of an app.
    public init(subsystem: String, category: String) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// The messages of a part that the older interface names.
    public init(_ log: OSLog) {
        self.log = log
    }

    /// Messages of no part in particular.
    public init() {
        log = .default
    }

    /// Writes a message of a level.
    public func log(level: OSLogType, _ message: OSLogMessage) {
        log.write(level) { message.text }
    }

    /// Writes a message of the level `default`.
    public func log(_ message: OSLogMessage) { log(level: .default, message) }

    /// Writes a message of the level `default`.
    public func notice(_ message: OSLogMessage) { log(level: .default, message) }

    /// Writes a message of the level `debug`.
    public func debug(_ message: OSLogMessage) { log(level: .debug, message) }

    /// Writes a message of the level `debug`.
    public func trace(_ message: OSLogMessage) { log(level: .debug, message) }

    /// Writes a message of the level `info`.
    public func info(_ message: OSLogMessage) { log(level: .info, message) }

    /// Writes a message of the level `error`.
    public func warning(_ message: OSLogMessage) { log(level: .error, message) }

    /// Writes a message of the level `error`.
    public func error(_ message: OSLogMessage) { log(level: .error, message) }

    /// Writes a message of the level `fault`.
    public func critical(_ message: OSLogMessage) { log(level: .fault, message) }

    /// Writes a message of the level `fault`.
    public func fault(_ message: OSLogMessage) { log(level: .fault, message) }
}
