import ArgumentParser

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Apps on simulated devices, step by step; nothing but this machine is needed.",
        subcommands: [DemoHeartRateCommand.self, DemoBackgroundCommand.self],
        defaultSubcommand: DemoHeartRateCommand.self
    )
}
