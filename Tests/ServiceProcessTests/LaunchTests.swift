import ServiceMessages
import Testing

@testable import ServiceProcess

@Suite struct LaunchTests {
    private let app = AppIdentity(name: "com.example.my app", owner: 1_000)
    private let variables = ["HARALD_SERVICE": "/run/s", "HARALD_RESTORE": "{\"centrals\":[\"a b\"]}"]

    @Test("without a service manager an app is a child of the service, and inherits nothing meant for it")
    func anAppIsAChild() {
        let environment = ["PATH": "/bin", "NOTIFY_SOCKET": "/n", "LISTEN_FDS": "1", "LISTEN_PID": "7"]
        let program = LaunchCommand(app, ["/opt/app", "-x"], variables: variables, environment: environment).program
        #expect(program.path == "/opt/app")
        #expect(program.arguments == ["-x"])
        #expect(program.output == .inherited)
        #expect(program.environment == variables.merging(["PATH": "/bin"]) { $1 })
    }

    @Test(
        "AB-G05: a child gets neither the watchdog, credentials or sockets of the service, nor JOURNAL_STREAM without its descriptor"
    )
    func childrenDoNotInheritTheServicesEnvironment() {
        let own = [
            "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "LISTEN_FDS",
            "LISTEN_PID", "NOTIFY_SOCKET", "INVOCATION_ID", "MAINPID", "STATE_DIRECTORY", "FDSTORE",
        ]
        var environment = Dictionary(uniqueKeysWithValues: own.map { ($0, "1") })
        environment["JOURNAL_STREAM"] = "8:1"
        environment["HOME"] = "/home/a"
        #expect(
            Program.environment(from: environment, output: .inherited) == ["HOME": "/home/a", "JOURNAL_STREAM": "8:1"]
        )
        #expect(Program.environment(from: environment, output: .discarded) == ["HOME": "/home/a"])
    }

    @Test("under the user's systemd an app is a unit of its own with a predictable name")
    func anAppIsAUnit() {
        let environment = ["INVOCATION_ID": "7", "XDG_RUNTIME_DIR": "/run/user/1000", "NOTIFY_SOCKET": "/n"]
        let command = ["/opt/app", "--verbose"]
        let program = LaunchCommand(app, command, variables: variables, environment: environment).program
        #expect(program.path == "/usr/bin/systemd-run")
        #expect(
            program.arguments == [
                "--user", "--quiet", "--collect", "--wait", "--unit=app-harald-com.example.my\\x20app.service",
                "--setenv=HARALD_RESTORE={\"centrals\":[\"a b\"]}", "--setenv=HARALD_SERVICE=/run/s", "--", "/opt/app",
                "--verbose",
            ]
        )
        #expect(program.environment == ["XDG_RUNTIME_DIR": "/run/user/1000"])
    }

    @Test func restoreIdentifiersRoundTripThroughTheEnvironment() {
        let managers = RestoreIdentifiers(centrals: ["a\"b", "ä"], peripherals: ["c"])
        #expect(RestoreIdentifiers(environment: [RestoreIdentifiers.variable: managers.environmentValue]) == managers)
        for text in ["", "{", "[]", "{\"centrals\":7}"] {
            #expect(RestoreIdentifiers(environment: [RestoreIdentifiers.variable: text]) == RestoreIdentifiers())
        }
        #expect(RestoreIdentifiers(environment: [:]) == RestoreIdentifiers())
    }
}
