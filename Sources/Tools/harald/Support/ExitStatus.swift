/// The exit statuses of commands, for their help.
enum ExitStatus: CaseIterable {
    case success
    case failure
    case controllerUnreachable
    case controllerFailed
    case deviceNotFound
    case peerLost
    case notSecured
    case usage
    case interrupted

    var line: String {
        switch self {
        case .success: "0 success"
        case .failure: "1 any other failure"
        case .controllerUnreachable: "3 controller unreachable"
        case .controllerFailed: "4 controller failed or rejected the request"
        case .deviceNotFound: "5 device not found in time, or several fit"
        case .peerLost: "6 peer lost"
        case .notSecured: "7 link not secured"
        case .usage: "64 usage error"
        case .interrupted: "130 interrupted (Ctrl-C)"
        }
    }

    /// Returns a sentence with the statuses that every command has, and these.
    static func text(_ own: ExitStatus...) -> String { sentence([.success, .failure, .usage, .interrupted] + own) }

    /// The same for commands that run until they are interrupted, which is their success.
    static func textUntilInterrupted(_ own: ExitStatus...) -> String { sentence([.success, .failure, .usage] + own) }

    private static func sentence(_ statuses: [ExitStatus]) -> String {
        "Exit status: " + allCases.filter(statuses.contains).map(\.line).joined(separator: ", ") + "."
    }
}
