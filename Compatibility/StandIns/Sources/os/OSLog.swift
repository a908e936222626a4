public import Foundation

/// A part of an app that logs.
public final class OSLog: NSObject, Sendable {
    let subsystem: String
    let category: String
    private let isSilent: Bool

    /// A part of an app by the names of the app and of the part.
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

    /// No part in particular.
    public static let `default` = OSLog(isSilent: false)

    /// Where messages vanish.
    public static let disabled = OSLog(isSilent: true)

    /// Whether messages of this type are written.
    public func isEnabled(type: OSLogType) -> Bool {
        !isSilent && LogLine.isWritten(type)
    }

    /// Writes a message, which is put together only if it is wanted.
    func write(_ type: OSLogType, _ message: () -> String) {
        guard isEnabled(type: type) else { return }
        LogLine(type: type, subsystem: subsystem, category: category, message: message()).write()
    }
}
