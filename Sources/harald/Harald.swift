import ArgumentParser
import Logging

@main
struct Harald: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "harald",
        abstract: "Core Bluetooth beyond Apple: a Bluetooth LE stack with a virtual radio.",
        discussion: """
            Exit statuses: 0 done, 3 the controller cannot be reached, 4 the controller does not answer or answers \
            nonsense, 5 no such device was found in time, 6 the peer vanished, 7 the link could not be secured, 64 wrong \
            usage.
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
