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
        if let seconds, !(seconds > 0 && seconds <= 86_400) {
            throw ValidationError("--seconds must be greater than 0 and at most 86400")
        }
    }

    var printsOnlyResult: Bool { false }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        try await client.stay(device, seconds: seconds)
    }

    /// Connects and returns. The device stays connected while the session runs further commands.
    func performInSession(_ client: DeviceClient) async throws(ToolError) {
        guard seconds == nil else { return try await perform(client) }
        let device = try await connect(client)
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
        let target = try await client.characteristic(characteristic, of: device) { $0.properties & 0x02 != 0 }
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

    @Argument(help: ArgumentHelp("The value in hexadecimal, or a text with --text.", valueName: "VALUE"))
    var value: String

    @Flag(help: "Write the value as UTF-8 text.")
    var text = false

    @Flag(help: "Write without response: the device does not confirm it.")
    var withoutResponse = false

    private var octets: PacketBuffer? {
        if text { return PacketBuffer(Array(value.utf8)) }
        return BluetoothTypes.octets(hexadecimal: value).map { PacketBuffer($0) }
    }

    func validate() throws {
        guard octets != nil else {
            throw ValidationError(
                "\(value.quotedText) is not a value in hexadecimal, such as 01ff; write text with --text"
            )
        }
    }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        let target = try await client.characteristic(characteristic, of: device) { $0.properties & 0x0C != 0 }
        try await client.write(octets ?? [], to: target, withResponse: !withoutResponse)
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
        abstract: "Pair with a device, by using a value that is for paired devices only.",
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
