import Foundation

/// A message as it goes to standard error: one line, whatever is in it.
struct LogLine {
    let type: OSLogType
    let subsystem: String
    let category: String
    let message: String

    /// `HARALD_LOG_LEVEL` says from which level on messages are written; without it, as on Apple's systems, from `default` on.
    private static let least: Int = {
        let name = ProcessInfo.processInfo.environment["HARALD_LOG_LEVEL"]
        let types: [OSLogType] = [.debug, .info, .default, .error, .fault]
        return (types.first { $0.name == name } ?? .default).severity
    }()

    /// `HARALD_LOG_PRIVATE=1` shows what a message says is private, as Xcode does for an app that it runs.
    static let showsPrivate = ProcessInfo.processInfo.environment["HARALD_LOG_PRIVATE"] == "1"

    static func isWritten(_ type: OSLogType) -> Bool { type.severity >= least }

    var text: String {
        let place = subsystem.isEmpty && category.isEmpty ? "" : " [\(subsystem):\(category)]"
        return "\(type.name)\(place) \(message)".map { $0.isControl ? " " : String($0) }.joined() + "\n"
    }

    func write() {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension Character {
    /// What would end the line or steer a terminal.
    fileprivate var isControl: Bool {
        unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.generalCategory == .lineSeparator
        }
    }
}
