import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation

// The commands that use one device. Each is an app of the service, or of a controller of its own.

struct ConnectCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a device and stay connected, reporting changes of the link, until interrupted.",
        discussion: """
            \(ClientOptions.discussion) When the link is lost, it connects again. When the service or the controller \
            goes, it ends with an error.

            Example:
              harald connect Pulse

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Option(
        help: ArgumentHelp(
            "Disconnect and end after this time, in seconds (default: stay until interrupted).",
            valueName: "SECONDS"
        )
    )
    var seconds: Double?

    func validate() throws {
        if let seconds { try checkSeconds(seconds, of: "--seconds") }
    }

    var printsOnlyResult: Bool { false }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        try await client.stay(device, seconds: seconds)
    }

    /// Connects and returns. The device stays connected while the session runs further commands.
    func performInSession(_ client: DeviceClient) async throws(ToolError) {
        guard seconds == nil else { return try await perform(client) }
        let connected = client.memory.connected
        let device = try await connect(client)
        if connected.contains(device) {
            let document = LinkDocument(device: device.candidate.document, state: "connected")
            client.report.show(document, as: "already connected")
        }
        client.keep(device)
        if client.memory.isForCompletion { _ = try? await client.discover(device) }
    }
}

struct ReadCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print the value of a characteristic.",
        discussion: """
            \(ClientOptions.discussion)

            Examples:
              harald read Pulse 2A38
              harald read service:180F "battery level"

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Argument(help: CharacteristicSelector.help)
    var characteristic: CharacteristicSelector

    @Flag(help: "Print the value in hexadecimal only.")
    var raw = false

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        let target = try await client.characteristic(characteristic, of: device) { $0.canBeRead }
        try target.checkReadable()
        let value = try await client.read(target)
        client.report.show(
            ValueDocument(value, of: target.uuid, device.candidate.document),
            as: raw ? "\(value)" : shown(value, of: target.uuid)
        )
    }
}

struct WriteCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write the value of a characteristic.",
        discussion: """
            \(ClientOptions.discussion)

            Examples:
              harald write Pulse 2A39 01
              harald write Lamp FFE1 --text on

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Argument(help: CharacteristicSelector.help)
    var characteristic: CharacteristicSelector

    @Argument(
        help: ArgumentHelp(
            "The value in hexadecimal, such as 01ff, 0x01ff or 01:ff, or a text with --text.",
            valueName: "VALUE"
        )
    )
    var value: String

    @Flag(help: "Write the value as UTF-8 text.")
    var text = false

    @Flag(help: "Write without response: the device does not confirm it.")
    var withoutResponse = false

    private func octets() throws(TypedValueError) -> PacketBuffer {
        PacketBuffer(text ? Array(value.utf8) : try typedValue(value))
    }

    func validate() throws {
        do throws(TypedValueError) {
            _ = try octets()
        } catch {
            throw ValidationError("\(error); write text with --text")
        }
    }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        let target = try await client.characteristic(characteristic, of: device) { $0.canBeWritten }
        try target.checkWritable(withResponse: !withoutResponse)
        // An invalid value has been refused by now.
        try await client.write((try? octets()) ?? [], to: target, withResponse: !withoutResponse)
    }
}

struct FollowCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print the values that a characteristic notifies or indicates, one a line, until interrupted.",
        discussion: """
            \(ClientOptions.discussion)

            Example:
              harald follow Pulse 2A37

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Argument(help: CharacteristicSelector.help)
    var characteristic: CharacteristicSelector

    @Option(
        name: .customLong("count"),
        help: ArgumentHelp("End after this number of values (default: follow until interrupted).", valueName: "N")
    )
    var limit: Int?

    @Flag(help: "Print the values in hexadecimal only.")
    var raw = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--count must be at least 1") }
    }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        let target = try await client.characteristic(characteristic, of: device) { $0.canNotify }
        try await client.follow(target, count: limit) { raw ? "\($0)" : shown($0, of: target.uuid) }
    }
}

struct PairCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device, by using a value that requires pairing.",
        discussion: """
            \(ClientOptions.discussion) Prompts of the service appear at `harald agent`; without one, its policy file decides. With a \
            controller of its own, the command prompts at this terminal, or answers with --answer, and --store keeps the bond.

            Example:
              harald pair Pulse

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var options: ConnectingOptions

    var printsOnlyResult: Bool { false }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        try await client.pair(device)
    }
}

struct DistanceCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "distance",
        abstract: "Print the distance to a device in metres, by Channel Sounding, until interrupted.",
        discussion: """
            \(ClientOptions.discussion) It pairs first if it has to, as `harald pair` does: distances are measured to paired \
            devices with the Ranging Service. Each line is the median of the last five measurements.

            Example:
              harald distance Tag --count 1

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost, .notSecured))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Option(
        name: .customLong("count"),
        help: ArgumentHelp("End after this number of distances (default: measure until interrupted).", valueName: "N")
    )
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "End after this time, in seconds (default: measure until interrupted).",
            valueName: "SECONDS"
        )
    )
    var seconds: Double?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--count must be at least 1") }
        if let seconds { try checkSeconds(seconds, of: "--seconds") }
    }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        try await client.measureDistance(to: device, count: limit, seconds: seconds)
    }
}
