import ArgumentParser
import EventLoops
import HCITransports

struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Find a peripheral by name, print its whole GATT table with values, and follow a value."
    )

    @OptionGroup var line: ControllerOptions

    @Argument(help: "The name that the peripheral advertises.")
    var name: String

    @Option(help: "How many values to follow; 0 for none.")
    var notifications = 3

    @Option(help: "Seconds to find and connect to the peripheral.")
    var timeout = 10.0

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout is more than 0 and at most 86400")
        }
        guard (0...1_000_000).contains(notifications) else {
            throw ValidationError("--notifications is from 0 to 1000000")
        }
    }

    func run() throws {
        do throws(ToolError) {
            try explore()
        } catch {
            throw error.report()
        }
    }

    private func explore() throws(ToolError) {
        let outcome = Outcome()
        let loop = NIOEventLoop()
        let address = line.controller
        let line = line
        let capture = try line.captureFile()
        let plan = Explorer.Plan(
            name: name,
            controller: "\(address)",
            notifications: notifications,
            timeout: timeout
        )
        let explorer = loop.make {
            let explorer = Explorer(
                plan,
                transport: line.open(address, loop: loop, capture: capture),
                loop: loop,
                random: RandomSource(),
                finish: outcome.finish
            )
            explorer.start()
            return explorer
        }
        try outcome.wait()
        withExtendedLifetime(explorer) {}
    }
}
