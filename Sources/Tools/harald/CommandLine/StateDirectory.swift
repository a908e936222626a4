import Foundation

/// The default directories for persistent data (XDG Base Directory Specification).
enum StateDirectory {
    /// The default directory for bonds: below `XDG_STATE_HOME`, or `~/.local/state`.
    static func bonds(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        "\(state(environment))/bonds"
    }

    /// The file with the history of `harald shell`, in the same place.
    static func history(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        "\(state(environment))/shell-history"
    }

    private static func state(_ environment: [String: String]) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        // A relative path in the variable is ignored.
        let named = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return "\(named ?? "\(home)/.local/state")/harald"
    }

    /// The default directory of apps: below `XDG_DATA_HOME`, or `~/.local/share`.
    static func apps(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let named = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return "\(named ?? "\(home)/.local/share")/harald/apps"
    }
}
