import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation

// The commands that use one device. Each is an app of the service, or of a controller of its own.

/// The options of commands that connect to a device.
struct ConnectingOptions: ParsableArguments {
    @OptionGroup var client: ClientOptions
    @OptionGroup var trust: TrustOptions

    @Option(
        help: ArgumentHelp("The time limit for finding and connecting to the device, in seconds.", valueName: "SECONDS")
    )
    var timeout = 10.0

    @Argument(help: DeviceSelector.help)
    var device: DeviceSelector

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be greater than 0 and at most 86400")
        }
        try client.checkOptions(trust.given)
    }

    /// Runs `verb` with the device, connected.
    ///
    /// - Parameter onlyResult: Whether standard output has nothing but the result of the command.
    func run(
        onlyResult: Bool = true,
        _ verb: @escaping @Sendable (DeviceClient, FoundDevice) async throws(ToolError) -> Void
    ) throws {
        let (selector, timeout) = (device, timeout)
        try client.run(trust: trust, onlyResult: onlyResult) { client async throws(ToolError) in
            let device = try await client.find(selector, seconds: timeout)
            try await client.connect(device, limit: .seconds(timeout))
            try await verb(client, device)
        }
    }
}

struct ConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a device and stay connected, reporting changes of the link, until interrupted.",
        discussion: """
            \(ClientOptions.discussion) When the link is lost, it connects again.

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

    func run() throws {
        let seconds = seconds
        try options.run(onlyResult: false) { client, device async throws(ToolError) in
            try await client.stay(device, seconds: seconds)
        }
    }
}

struct ReadCommand: ParsableCommand {
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

    func run() throws {
        let (selector, isRaw) = (characteristic, raw)
        try options.run { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device) { $0.properties & 0x02 != 0 }
            let value = try await client.read(target)
            client.report.show(
                ValueDocument(value, of: target.uuid, device.candidate.document),
                as: isRaw ? "\(value)" : shown(value, of: target.uuid)
            )
        }
    }
}

struct WriteCommand: ParsableCommand {
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
        return harald.octets(hexadecimal: value).map { PacketBuffer($0) }
    }

    func validate() throws {
        guard octets != nil else {
            throw ValidationError(
                "\(value.quotedText) is not a value in hexadecimal, such as 01ff; write text with --text"
            )
        }
    }

    func run() throws {
        let (selector, value, isConfirmed) = (characteristic, octets ?? [], !withoutResponse)
        try options.run { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device) { $0.properties & 0x0C != 0 }
            try await client.write(value, to: target, withResponse: isConfirmed)
        }
    }
}

struct FollowCommand: ParsableCommand {
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

    func run() throws {
        let (selector, limit, isRaw) = (characteristic, limit, raw)
        try options.run { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device) { $0.canNotify }
            try await client.follow(target, count: limit) { isRaw ? "\($0)" : shown($0, of: target.uuid) }
        }
    }
}

struct PairCommand: ParsableCommand {
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

    func run() throws {
        try options.run(onlyResult: false) { client, device async throws(ToolError) in try await client.pair(device) }
    }
}
