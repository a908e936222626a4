import Accessories
import ArgumentParser

/// Writes the file of an accessory that behaves as a device does.
struct RecordCommand: ConnectedVerb {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Print a device as an accessory file, which harald serve plays.",
        discussion: """
            \(ClientOptions.discussion)

            The file has the services, the values, and the notifications of some seconds with their timing. If the device is \
            lost meanwhile, the file has what was recorded, and the command fails. \
            Values that need pairing are marked as encrypted. Without --pair, the command does not pair, and leaves them out.

            Examples:
              harald record Pulse > pulse.json
              harald record Pulse --seconds 60 > pulse.json
              harald record Pulse --pair > pulse.json

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound, .peerLost))
            """
    )

    @OptionGroup var options: ConnectingOptions

    @Option(help: ArgumentHelp("The time to record notifications, in seconds.", valueName: "SECONDS"))
    var seconds = 10.0

    @Flag(help: "Pair if values need it, and record them too.")
    var pair = false

    var trustOptions: TrustOptions? {
        var trust = options.trust
        if !pair { trust.answer = .no }
        return trust
    }

    var printsDocument: Bool { true }

    func validate() throws {
        guard seconds >= 0, seconds <= 86_400 else {
            throw ValidationError("--seconds must be at least 0 and at most 86400")
        }
    }

    func perform(_ client: DeviceClient, _ device: FoundDevice) async throws(ToolError) {
        let (accessory, loss) = try await client.record(device, for: .seconds(seconds), pairs: pair)
        let (fitted, isCut) = try accessory.fitted()
        Console.lines(fitted.json)
        if isCut { Console.problem("harald: the device has more values than a file can hold; some are left out") }
        if let loss { throw loss }
    }
}
