import Foundation

/// The user's directories (XDG Base Directory Specification).
enum StateDirectory {
    /// The default directory for bonds.
    static func bonds() -> String { named("XDG_STATE_HOME", or: ".local/state") + "/harald/bonds" }

    /// The file with the history of `harald shell`.
    static func history(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        named("XDG_STATE_HOME", or: ".local/state", environment) + "/harald/shell-history"
    }

    /// The default directory of apps.
    static func apps() -> String { named("XDG_DATA_HOME", or: ".local/share") + "/harald/apps" }

    /// Returns the directory that a variable names, or `place` in the home directory. A relative path is ignored.
    static func named(
        _ variable: String,
        or place: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        if let path = environment[variable], path.hasPrefix("/") { return path }
        return "\(environment["HOME"] ?? NSHomeDirectory())/\(place)"
    }
}
