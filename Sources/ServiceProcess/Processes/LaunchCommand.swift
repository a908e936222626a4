import BluetoothService

/// How the program of an app is started: by the user's systemd, where that runs the service, as a unit of its own that outlives it; else
/// as a child of the service.
struct LaunchCommand: Hashable {
    static let systemdRun = "/usr/bin/systemd-run"

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
        // The name of a unit as desktops make it, so that who looks there finds the app by it.
        let unit = "app-harald-\(Self.escaped(app.name)).service"
        arguments =
            ["--user", "--quiet", "--collect", "--unit=\(unit)"]
            + variables.sorted { $0.key < $1.key }.map { "--setenv=\($0.key)=\($0.value)" } + ["--"] + command
        self.environment = own
    }

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
