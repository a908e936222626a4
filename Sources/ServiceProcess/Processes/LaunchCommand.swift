import BluetoothService

/// How the program of an app is started: by the user's systemd, where that runs the service, as a unit of its own that outlives it; else
/// as a child of the service.
struct LaunchCommand: Hashable {
    static let systemdRun = "/usr/bin/systemd-run"
    /// How the units of apps begin, as desktops name them, so that who looks there finds the app by its unit.
    static let unitPrefix = "app-harald-"

    let program: String
    let arguments: [String]
    let environment: [String: String]

    /// - Parameters:
    ///   - command: A program, by its whole path, and its arguments.
    ///   - variables: What is put into its environment.
    ///   - environment: That of the service.
    init(_ app: AppIdentity, _ command: [String], variables: [String: String], environment: [String: String]) {
        // What a unit says to its process is for no other one.
        let own = environment.filter {
            !["NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "INVOCATION_ID"].contains($0.key)
        }
        guard environment["INVOCATION_ID"] != nil, environment["XDG_RUNTIME_DIR"] != nil else {
            program = command.first ?? ""
            arguments = Array(command.dropFirst())
            self.environment = own.merging(variables) { $1 }
            return
        }
        program = Self.systemdRun
        // systemd-run waits for the unit to end, which tells the service that the app has ended.
        arguments =
            ["--user", "--quiet", "--collect", "--wait", "--unit=\(Self.unit(of: app))"]
            + variables.sorted { $0.key < $1.key }.map { "--setenv=\($0.key)=\($0.value)" } + ["--"] + command
        self.environment = own
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
