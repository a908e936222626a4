import ArgumentParser

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run apps on simulated devices, step by step. No hardware is needed.",
        discussion: """
            Examples:
              harald demo
              harald demo background
            """,
        subcommands: [DemoHeartRateCommand.self, DemoBackgroundCommand.self],
        defaultSubcommand: DemoHeartRateCommand.self
    )
}
