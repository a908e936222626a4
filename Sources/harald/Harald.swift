import ArgumentParser
import Logging

@main
struct Harald: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "harald",
        abstract: "Core Bluetooth beyond Apple: a Bluetooth LE stack with a virtual radio.",
        discussion: """
            Exit status: 0 success, 3 controller unreachable, 4 controller failed or rejected the request, 5 device not found in \
            time, 6 peer lost, 7 link not secured, 64 usage error, 1 any other failure.
            """,
        subcommands: [
            DemoCommand.self, ExploreCommand.self, ServeCommand.self, CollectCommand.self, ChannelCommand.self,
            ServiceCommand.self, InstallCommand.self, StatusCommand.self, MonitorCommand.self, DevicesCommand.self,
            BondsCommand.self, AgentCommand.self, AppCommand.self, ScanCommand.self, AdvertiseCommand.self,
            ControllersCommand.self, DoctorCommand.self, SwiftCommand.self,
        ]
    )

    static func main() {
        LoggingSystem.bootstrap { ConsoleLog(label: $0) }
        main(nil)
    }
}
