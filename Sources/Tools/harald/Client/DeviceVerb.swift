import ArgumentParser

/// A line of `harald shell` that uses devices.
protocol SessionVerb: ParsableCommand, Sendable {
    var showing: ShowingOptions { get }
    /// Whether standard output has nothing but the result.
    var printsOnlyResult: Bool { get }

    /// Performs the verb in a session, whose devices may stay connected.
    func performInSession(_ client: DeviceClient) async throws(ToolError)
}

extension SessionVerb {
    var printsOnlyResult: Bool { false }
}

/// A command that uses devices as an app: as a program of its own, or as a line of `harald shell`.
protocol DeviceVerb: SessionVerb, ShowingCommand {
    var clientOptions: ClientOptions { get }
    var trustOptions: TrustOptions? { get }

    /// Whether the result is a document, which prompts must not interrupt.
    var printsDocument: Bool { get }

    func perform(_ client: DeviceClient) async throws(ToolError)
}

extension DeviceVerb {
    var printsDocument: Bool { false }
    var showing: ShowingOptions { clientOptions.showing }
    var trustOptions: TrustOptions? { nil }

    func performInSession(_ client: DeviceClient) async throws(ToolError) { try await perform(client) }

    func runAlone() throws(ToolError) {
        let verb = self
        try clientOptions.run(trust: trustOptions, onlyResult: printsOnlyResult, isDocument: printsDocument) {
            client async throws(ToolError) in try await verb.perform(client)
        }
    }
}

/// A command that connects to a device first.
protocol ConnectedVerb: DeviceVerb {
    var options: ConnectingOptions { get }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError)
}

extension ConnectedVerb {
    var clientOptions: ClientOptions { options.client }
    var trustOptions: TrustOptions? { options.trust }
    var printsOnlyResult: Bool { true }

    func perform(_ client: DeviceClient) async throws(ToolError) {
        try await perform(client, try await connect(client))
    }

    /// Finds the device, and connects to it unless the session is connected to it.
    func connect(_ client: DeviceClient) async throws(ToolError) -> FoundDevice {
        let device = try await client.find(options.device, seconds: options.timeout)
        try await client.connect(device, limit: .seconds(options.timeout))
        return device
    }

    func execute() throws(ToolError) { try runAlone() }
}

/// The options of commands that connect to a device.
struct ConnectingOptions: ParsableArguments {
    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    @Option(
        help: ArgumentHelp(
            "The time limit for finding the device, and then for connecting to it, in seconds.",
            valueName: "SECONDS"
        )
    )
    var timeout = 10.0

    @Argument(help: DeviceSelector.help)
    var device: DeviceSelector

    func validate() throws {
        try checkSeconds(timeout, of: "--timeout")
        try client.checkOptions(trust.given)
    }
}
