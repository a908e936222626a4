import ArgumentParser

enum ShellVerbs {
    static let all: [any ParsableCommand.Type] = [
        ScanCommand.self, ExploreCommand.self, ConnectCommand.self, DisconnectVerb.self, ReadCommand.self,
        WriteCommand.self, FollowCommand.self, PairCommand.self, DistanceCommand.self, DevicesCommand.self,
        HelpVerb.self, QuitVerb.self,
    ]

    static let names = all.map { $0._commandName }

    static func named(_ name: String) -> (any ParsableCommand.Type)? {
        all.first { $0._commandName == name || $0.configuration.aliases.contains(name) }
    }

    static var list: [String] {
        let width = (names.map(\.count).max() ?? 0) + 2
        return all.map { command in
            let name = command._commandName
            return name + String(repeating: " ", count: width - name.count) + command.configuration.abstract
        }
    }
}

struct DisconnectVerb: SessionVerb {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Disconnect from a device that `connect` has connected to.",
        discussion: """
            Without a device, it disconnects from all of them. A link that other apps use stays up.

            Example:
              disconnect Pulse
            """
    )

    @OptionGroup var showing: ShowingOptions

    @Argument(help: DeviceSelector.help)
    var device: DeviceSelector?

    func performInSession(_ client: DeviceClient) async throws(ToolError) {
        try await client.disconnect(device)
    }
}

struct HelpVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help",
        abstract: "List the commands, or show the help of one.",
        discussion: """
            Example:
              help read
            """
    )

    @Argument(help: ArgumentHelp("The command.", valueName: "VERB"))
    var verb: String?

    func validate() throws {
        guard let verb, ShellVerbs.named(verb) == nil else { return }
        throw ValidationError("\(UnknownCommand(verb, among: ShellVerbs.names))")
    }

    func run() {
        if let command = verb.flatMap(ShellVerbs.named) { return Console.lines(command.helpMessage()) }
        ShellVerbs.list.forEach(Console.line)
        Console.line("")
        Console.line("`help VERB` shows the options of a command. Tab completes commands, options and devices.")
        Console.line("Ctrl-C ends a command, Ctrl-D ends the shell.")
    }
}

struct QuitVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Disconnect from all devices, and end the shell.",
        discussion: """
            Example:
              quit
            """,
        aliases: ["exit"]
    )
}
