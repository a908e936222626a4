import BluetoothService
import Testing

@testable import ServiceProcess

@Suite struct LaunchTests {
    private let app = AppIdentity(name: "com.example.my app", owner: 1_000)
    private let variables = ["HARALD_SERVICE": "/run/s", "HARALD_RESTORE": "{\"centrals\":[\"a b\"]}"]

    @Test("an app is a child of a service that no manager runs, and hears nothing that is for the service")
    func anAppIsAChild() {
        let environment = ["PATH": "/bin", "NOTIFY_SOCKET": "/n", "LISTEN_FDS": "1", "LISTEN_PID": "7"]
        let launch = LaunchCommand(app, ["/opt/app", "-x"], variables: variables, environment: environment)
        #expect(launch.program == "/opt/app" && launch.arguments == ["-x"])
        #expect(launch.environment == variables.merging(["PATH": "/bin"]) { $1 })
    }

    @Test("under the user's systemd an app is a unit of its own, found by its name")
    func anAppIsAUnit() {
        let environment = ["INVOCATION_ID": "7", "XDG_RUNTIME_DIR": "/run/user/1000", "NOTIFY_SOCKET": "/n"]
        let launch = LaunchCommand(app, ["/opt/app", "--verbose"], variables: variables, environment: environment)
        #expect(launch.program == "/usr/bin/systemd-run")
        #expect(
            launch.arguments == [
                "--user", "--quiet", "--collect", "--wait", "--unit=app-harald-com.example.my\\x20app.service",
                "--setenv=HARALD_RESTORE={\"centrals\":[\"a b\"]}", "--setenv=HARALD_SERVICE=/run/s", "--", "/opt/app",
                "--verbose",
            ]
        )
        #expect(launch.environment == ["XDG_RUNTIME_DIR": "/run/user/1000"])
    }

    @Test func whatIsRestoredComesBackFromTheEnvironment() {
        let managers = RestoreIdentifiers(centrals: ["a\"b", "ä"], peripherals: ["c"])
        #expect(RestoreIdentifiers(environment: [RestoreIdentifiers.variable: managers.environmentValue]) == managers)
        for text in ["", "{", "[]", "{\"centrals\":7}"] {
            #expect(RestoreIdentifiers(environment: [RestoreIdentifiers.variable: text]) == RestoreIdentifiers())
        }
        #expect(RestoreIdentifiers(environment: [:]) == RestoreIdentifiers())
    }
}
