import Foundation

/// Where programs keep what must last (XDG Base Directory Specification).
enum StateDirectory {
    /// The directory of the bonds when none is named: below `XDG_STATE_HOME`, or `~/.local/state`.
    static func bonds(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        // A relative path in the variable does not count.
        let named = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return "\(named ?? "\(home)/.local/state")/harald/bonds"
    }

    /// The directory of apps when none is named: below `XDG_DATA_HOME`, or `~/.local/share`.
    static func apps(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let named = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return "\(named ?? "\(home)/.local/share")/harald/apps"
    }
}
