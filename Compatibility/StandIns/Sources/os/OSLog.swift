public import Foundation

/// A log of one category of messages of an app.
public final class OSLog: NSObject, Sendable {
    let subsystem: String
    let category: String
    private let isSilent: Bool

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - subsystem: The identifier of the app or library.
    ///   - category: The part of it that logs.
    public init(subsystem: String, category: String) {
        self.subsystem = subsystem
        self.category = category
        isSilent = false
    }

    private init(isSilent: Bool) {
        subsystem = ""
        category = ""
        self.isSilent = isSilent
    }

    /// The log without a subsystem and a category.
    public static let `default` = OSLog(isSilent: false)

    /// The log that drops all messages.
    public static let disabled = OSLog(isSilent: true)

    /// Returns whether messages of a level are written.
    public func isEnabled(type: OSLogType) -> Bool {
        !isSilent && LogLine.isWritten(type)
    }

    /// Writes a message, which is evaluated only if its level is written.
    func write(_ type: OSLogType, _ message: () -> String) {
        guard isEnabled(type: type) else { return }
        LogLine(type: type, subsystem: subsystem, category: category, message: message()).write()
    }
}
