import ArgumentParser
import Cryptography
import Foundation
import Logging

@main
struct Harald: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "harald",
        abstract: "Core Bluetooth beyond Apple: a Bluetooth LE stack with a virtual radio.",
        discussion: """
            Exit status: 0 success, 1 any other failure, 3 controller unreachable, 4 controller failed or rejected the request, \
            5 device not found in time, or several fit, 6 peer lost, 7 link not secured, 64 usage error, 130 interrupted (Ctrl-C).

            Examples:
              harald demo
              harald scan --controller hci0
              harald help scan
            """,
        version: ToolVersion.text,
        groupedSubcommands: [
            CommandGroup(name: "Try", subcommands: [DemoCommand.self, CrowdCommand.self]),
            CommandGroup(
                name: "Talk to devices",
                subcommands: [
                    ScanCommand.self, ConnectCommand.self, ExploreCommand.self, ReadCommand.self, WriteCommand.self,
                    FollowCommand.self, PairCommand.self, DistanceCommand.self, ShellCommand.self, CollectCommand.self,
                    RecordCommand.self, ServeCommand.self, TestCommand.self, AdvertiseCommand.self, ChannelCommand.self,
                ]
            ),
            CommandGroup(
                name: "Service",
                subcommands: [
                    ServiceCommand.self, InstallCommand.self, StatusCommand.self, MonitorCommand.self,
                    AdviceCommand.self, DevicesCommand.self, PageCommand.self, PageDevicesCommand.self,
                    BondsCommand.self, AgentCommand.self, AppCommand.self,
                ]
            ),
            CommandGroup(name: "Captures", subcommands: [ExplainCommand.self, RedactCommand.self]),
            CommandGroup(name: "Machine", subcommands: [DoctorCommand.self, ControllersCommand.self]),
            CommandGroup(name: "Develop", subcommands: [SwiftCommand.self]),
        ]
    )

    static func main() {
        Console.openClosedStreams()
        Console.checkPrintedText()
        LoggingSystem.bootstrap { ConsoleLog(label: $0) }
        if let unknown = UnknownCommand(in: Array(CommandLine.arguments.dropFirst()), of: Self.self) {
            Console.problem("harald: \(unknown)")
            Foundation.exit(EX_USAGE)
        }
        do {
            var command = try parseAsRoot()
            if !worksWithoutCryptography(type(of: command)) { try requireCryptography() }
            try command.run()
        } catch {
            exit(withError: error)
        }
    }

    private static func worksWithoutCryptography(_ command: any ParsableCommand.Type) -> Bool {
        ["help", "doctor", "crowd"].contains(command.configuration.commandName)
    }

    private static func requireCryptography() throws {
        do throws(CryptographyUnavailable) {
            try CryptographyProviders.require()
        } catch {
            throw ToolError.incomplete("\(error)").report()
        }
    }
}
