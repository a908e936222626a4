import ServiceMessages

/// The command that starts the program of an app. If the user's systemd runs the service, the app becomes a unit of its
/// own that outlives the service; otherwise, a child of the service.
struct LaunchCommand: Hashable {
    static let systemdRun = "/usr/bin/systemd-run"
    /// The prefix of the units of apps. It follows the convention of desktop environments, so that these can map units
    /// to apps.
    static let unitPrefix = "app-harald-"

    let program: Program

    /// - Parameters:
    ///   - command: The absolute path of the program, followed by its arguments.
    ///   - variables: Variables to add to its environment.
    init(_ app: AppIdentity, _ command: [String], variables: [String: String], environment: [String: String]) {
        let own = Program.environment(from: environment, output: .inherited)
        guard environment["INVOCATION_ID"] != nil, environment["XDG_RUNTIME_DIR"] != nil else {
            program = Program(
                path: command.first ?? "",
                arguments: Array(command.dropFirst()),
                environment: own.merging(variables) { $1 }
            )
            return
        }
        // `systemd-run` waits for the end of the unit, so its end tells the service that the app has ended.
        let options = ["--user", "--quiet", "--collect", "--wait", "--unit=\(Self.unit(of: app))"]
        let assignments = variables.sorted { $0.key < $1.key }.map { "--setenv=\($0.key)=\($0.value)" }
        program = Program(
            path: Self.systemdRun,
            // systemd replaces variables in the arguments, but not in the path of the program (systemd.service(5),
            // AB-T02).
            arguments: options + assignments + ["--"] + command.prefix(1)
                + command.dropFirst().map { $0.replacing("$", with: "$$") },
            environment: own
        )
    }

    static func unit(of app: AppIdentity) -> String { "\(unitPrefix)\(escaped(app.name)).service" }

    /// Escapes a name for use in a unit name (systemd.unit(5)): all octets but letters, digits, dots and underscores
    /// are replaced by their hexadecimal codes.
    static func escaped(_ name: String) -> String {
        name.utf8.prefix(100).map { octet in
            let character = Character(UnicodeScalar(octet))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "._".contains(character))
            let digits = String(octet, radix: 16)
            return isPlain ? String(character) : "\\x" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}
