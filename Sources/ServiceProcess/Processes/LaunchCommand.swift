import BluetoothService

/// How the program of an app is started: by the user's systemd, where that runs the service, as a unit of its own that outlives it; else
/// as a child of the service.
struct LaunchCommand: Hashable {
    static let systemdRun = "/usr/bin/systemd-run"
    /// How the units of apps begin, as desktops name them, so that who looks there finds the app by its unit.
    static let unitPrefix = "app-harald-"

    let program: Program

    /// - Parameters:
    ///   - command: A program, by its whole path, and its arguments.
    ///   - variables: What is put into its environment.
    ///   - environment: That of the service.
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
        // It waits for the end of the unit, by which the service learns of the end of the app.
        let options = ["--user", "--quiet", "--collect", "--wait", "--unit=\(Self.unit(of: app))"]
        let assignments = variables.sorted { $0.key < $1.key }.map { "--setenv=\($0.key)=\($0.value)" }
        program = Program(
            path: Self.systemdRun,
            arguments: options + assignments + ["--"] + command,
            environment: own
        )
    }

    /// The unit that an app runs in when it was launched so.
    static func unit(of app: AppIdentity) -> String { "\(unitPrefix)\(escaped(app.name)).service" }

    /// A part of a unit's name (systemd.unit(5)): what is neither letter, digit, dot nor underscore is its octet in hexadecimal.
    static func escaped(_ name: String) -> String {
        name.utf8.prefix(100).map { octet in
            let character = Character(UnicodeScalar(octet))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "._".contains(character))
            let digits = String(octet, radix: 16)
            return isPlain ? String(character) : "\\x" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}
