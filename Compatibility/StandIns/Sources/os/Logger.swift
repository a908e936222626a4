/// A logger of one category of messages of an app.
public struct Logger: Sendable {
    private let log: OSLog

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - subsystem: The identifier of the app or library.
    ///   - category: The part of it that logs.
    public init(subsystem: String, category: String) {
        log = OSLog(subsystem: subsystem, category: category)
    }

    /// Creates a logger for a log of the older interface.
    public init(_ log: OSLog) {
        self.log = log
    }

    /// Creates a logger without a subsystem and a category.
    public init() {
        log = .default
    }

    /// Logs a message at a level.
    public func log(level: OSLogType, _ message: OSLogMessage) {
        log.write(level) { message.text }
    }

    /// Logs a message at the level `default`.
    public func log(_ message: OSLogMessage) { log(level: .default, message) }

    /// Logs a message at the level `default`.
    public func notice(_ message: OSLogMessage) { log(level: .default, message) }

    /// Logs a message at the level `debug`.
    public func debug(_ message: OSLogMessage) { log(level: .debug, message) }

    /// Logs a message at the level `debug`.
    public func trace(_ message: OSLogMessage) { log(level: .debug, message) }

    /// Logs a message at the level `info`.
    public func info(_ message: OSLogMessage) { log(level: .info, message) }

    /// Logs a message at the level `error`.
    public func warning(_ message: OSLogMessage) { log(level: .error, message) }

    /// Logs a message at the level `error`.
    public func error(_ message: OSLogMessage) { log(level: .error, message) }

    /// Logs a message at the level `fault`.
    public func critical(_ message: OSLogMessage) { log(level: .fault, message) }

    /// Logs a message at the level `fault`.
    public func fault(_ message: OSLogMessage) { log(level: .fault, message) }
}
