import ArgumentParser

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run apps on simulated devices, step by step. No hardware is needed.",
        discussion: """
            --page shows a world in a browser: drag the sensor out of range, and watch the app lose it and find it again.

            Examples:
              harald demo
              harald demo --page
              harald demo background

            \(ExitStatus.text())
            """,
        subcommands: [DemoHeartRateCommand.self, DemoBackgroundCommand.self],
        defaultSubcommand: DemoHeartRateCommand.self
    )
}
