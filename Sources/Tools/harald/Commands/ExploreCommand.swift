import ArgumentParser
import BluetoothService
import BluetoothTypes
import HCITransports
import Security

struct ExploreCommand: DeviceVerb {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Find a peripheral, print its whole GATT table with values, and follow a value.",
        discussion: """
            \(ClientOptions.discussion) Only then can it read what the system keeps from apps, such as Generic Attribute, and \
            choose how to pair.

            Examples:
              harald explore Pulse
              harald explore service:180D --notifications 10

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    @Argument(help: DeviceSelector.help)
    var device: DeviceSelector

    @Option(
        help: ArgumentHelp(
            "The characteristic to follow (default: the heart rate, or else the first that notifies).",
            valueName: "CHARACTERISTIC"
        )
    )
    var follow: CharacteristicSelector?

    @Option(
        help: ArgumentHelp("Write this value, of any length, and read it back: UUID=HEX.", valueName: "VALUE"),
        transform: valueToWrite
    )
    var write: ValueToWrite?

    @Flag(help: "Print values in hexadecimal rather than in words.")
    var raw = false

    @Flag(help: "Wait until the services of the peripheral change, and print them again.")
    var awaitChange = false

    @Flag(help: "Encrypt the link before anything else, using the bond or by pairing.")
    var pair = false

    @Flag(
        help:
            "Open enhanced ATT bearers if both sides support them, and read all values again over all of them at once."
    )
    var enhanced = false

    @Option(help: ArgumentHelp("The number of values to follow; 0 for none.", valueName: "N"))
    var notifications = 3

    @Option(
        help: ArgumentHelp(
            "The time limit for finding the peripheral, and then for connecting to it, in seconds.",
            valueName: "SECONDS"
        )
    )
    var timeout = 10.0

    func validate() throws {
        try checkSeconds(timeout, of: "--timeout")
        guard (0...1_000_000).contains(notifications) else {
            throw ValidationError("--notifications must be from 0 to 1000000")
        }
        try client.checkOptions([("--enhanced", enhanced)] + trust.given)
    }

    private var visit: Visit.Plan {
        Visit.Plan(follow: follow, notifications: notifications, write: write, awaitsChange: awaitChange, isRaw: raw)
    }

    func execute() throws(ToolError) {
        guard case .controller(let address) = client.place else { return try runAlone() }
        try explore(on: address)
    }

    var clientOptions: ClientOptions { client }

    func perform(_ client: DeviceClient) async throws(ToolError) {
        try await client.explore(device, visit, pairs: pair, seconds: timeout)
    }

    private func explore(on address: ControllerAddress) throws(ToolError) {
        let plan = Explorer.Plan(
            selector: device,
            controller: "\(address)",
            timeout: timeout,
            pairs: pair,
            sharesOutOfBand: trust.shareOob,
            wantsBearers: enhanced,
            visit: visit
        )
        let report = client.report
        try client.perform(on: address, configuration, trust: trust) { system, finish in
            let explorer = Explorer(plan, in: system, report, finish)
            explorer.start()
            return { explorer.end(.failure($0)) }
        }
    }

    private var configuration: SystemConfiguration {
        var configuration = SystemConfiguration()
        trust.configure(&configuration)
        // With persistent bonds, the device needs the same address each time the bonds are opened, because bonded peers
        // recognize it by that.
        configuration.address = trust.store == nil ? .staticRandom : .identity
        configuration.lostBonds = .asked
        configuration.preferredMTU = 517
        // Either side may open bearers.
        configuration.usesEnhancedBearers = enhanced
        return configuration
    }
}

private func valueToWrite(_ text: String) throws -> ValueToWrite {
    guard let value = ValueToWrite(text) else { throw ValidationError("\(text) is not UUID=HEX") }
    return value
}

extension BluetoothUUID: ExpressibleByArgument {
    /// Parses a UUID of 4, 8 or 36 characters, perhaps after `0x`. Returns nil for any other text.
    public init?(argument: String) {
        guard let uuid = typedUUID(argument) else { return nil }
        self = uuid
    }
}
