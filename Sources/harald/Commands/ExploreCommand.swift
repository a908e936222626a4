import ArgumentParser
import BluetoothTypes
import EventLoops
import HCITransports
import SMP

struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Find a peripheral by name, print its whole GATT table with values, and follow a value."
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var trust: TrustOptions

    @Argument(help: "The name that the peripheral advertises.")
    var name: String

    @Option(help: "The characteristic to follow (default: the heart rate, or else the first that notifies).")
    var follow: BluetoothUUID?

    @Option(help: "Write this value, of any length, and read it back: UUID=HEX.", transform: valueToWrite)
    var write: ValueToWrite?

    @Flag(help: "Wait until the services of the peripheral change, and print them again.")
    var awaitChange = false

    @Flag(help: "Encrypt the link before anything else, using the bond or by pairing.")
    var pair = false

    @Flag(
        help:
            "Open enhanced ATT bearers if both sides support them, and read all values again over all of them at once."
    )
    var enhanced = false

    @Option(help: "The number of values to follow; 0 for none.")
    var notifications = 3

    @Option(help: "The time limit for finding and connecting to the peripheral, in seconds.")
    var timeout = 10.0

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be greater than 0 and at most 86400")
        }
        guard (0...1_000_000).contains(notifications) else {
            throw ValidationError("--notifications must be from 0 to 1000000")
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
        Console.endWithReader()
        let outcome = Outcome()
        let loop = NIOEventLoop()
        let address = line.controller
        let line = line
        let capture = try line.captureFile()
        let plan = Explorer.Plan(
            name: name,
            controller: "\(address)",
            timeout: timeout,
            trust: Explorer.Trust(
                configuration: trust.configuration,
                keepsBonds: trust.store != nil,
                pairs: pair,
                outOfBand: trust.oob,
                sharesOutOfBand: trust.shareOob,
                prepared: trust.answer
            ),
            wantsBearers: enhanced,
            visit: Visit.Plan(
                follow: follow,
                notifications: notifications,
                write: write,
                awaitsChange: awaitChange
            )
        )
        let trust = trust
        let explorer = loop.make {
            let explorer = Explorer(
                plan,
                storage: trust.storage,
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

private func valueToWrite(_ text: String) throws -> ValueToWrite {
    guard let value = ValueToWrite(text) else { throw ValidationError("\(text) is not UUID=HEX") }
    return value
}

extension BluetoothUUID: ExpressibleByArgument {
    /// Parses a UUID of 4, 8 or 36 characters. Returns nil for any other text.
    public init?(argument: String) {
        self.init(argument)
    }
}
