import Foundation

/// A message as written to standard error: one line, whatever it contains.
struct LogLine {
    let type: OSLogType
    let subsystem: String
    let category: String
    let message: String

    /// The lowest level that is written, from `HARALD_LOG_LEVEL`; by default, as on Apple's systems, `default`.
    private static let least: Int = {
        let name = ProcessInfo.processInfo.environment["HARALD_LOG_LEVEL"]
        let types: [OSLogType] = [.debug, .info, .default, .error, .fault]
        return (types.first { $0.name == name } ?? .default).severity
    }()

    /// Whether private values are shown, as Xcode does for an app that it runs: with `HARALD_LOG_PRIVATE=1`.
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
    /// Whether the character would end the line or control a terminal.
    fileprivate var isControl: Bool {
        unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.generalCategory == .lineSeparator
        }
    }
}
