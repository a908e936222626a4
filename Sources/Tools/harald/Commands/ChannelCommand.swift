import ArgumentParser
import BluetoothService
import CoreBluetooth
import EventLoops
import HCITransports
import ServiceMessages

struct ChannelCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract:
            "Echo data on L2CAP channels until interrupted; with --to, send data and verify the echo.",
        discussion: """
            Examples:
              harald channel --controller hci0
              harald channel --controller hci1 --to "Harald echo" --size 20000
              harald channel --controller hci1 --to "Harald echo" --json

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound))
            """
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var trust: TrustOptions

    @Flag(help: "With --to: print JSON for programs. Its field names are stable.")
    var json = false

    @Option(help: ArgumentHelp("The name to advertise.", valueName: "NAME"))
    var name = "Harald echo"

    @Option(help: ArgumentHelp("Connect to the device with this name, and send data.", valueName: "NAME"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "With --to: the PSM (default: read it from the device's PSM characteristic).",
            valueName: "PSM"
        )
    )
    var psm: UInt16?

    @Flag(help: "Require an encrypted link for the channel; with --to, pair if the device requires it.")
    var pair = false

    @Option(help: ArgumentHelp("With --to: the number of octets to send.", valueName: "N"))
    var size = 1_048_576

    @Option(help: ArgumentHelp("With --to: the time limit, in seconds.", valueName: "SECONDS"))
    var timeout = 120.0

    func validate() throws {
        if json, to == nil { throw ValidationError("--json requires --to") }
        guard (1...(1 << 30)).contains(size) else { throw ValidationError("--size must be from 1 to 1073741824") }
        try checkSeconds(timeout, of: "--timeout")
    }

    func execute() throws(ToolError) {
        let outcome = Outcome()
        // Without --to it runs until it is interrupted.
        if to == nil { outcome.finishOnInterrupt() } else { Interrupts.onEnd { outcome.finish(.failure($0)) } }
        if to == nil { ShortenedName.notice(name, with: []).map(Console.line) }
        let queue = DispatchQueue(label: "channel")
        let report = ToolReport(json: json)
        let capture = try line.captureFile()
        let loop = NIOEventLoop()
        let system = line.startSystem(named: name, trust: trust, loop: loop, capture: capture, outcome: outcome)
        // Without a prompter, the system declines to pair.
        let prompter = pair ? trust.prepare(system, outcome, say: json ? Console.problem : Console.line) : nil
        let connection = system.with { $0.openApp(AppIdentity(name: "channel")) }
        let app: NSObject = ServiceLocator.$current.withValue(connection) {
            guard let to else {
                let advertised = ShortenedName.advertised(name, with: [])
                return ChannelEcho(name: advertised, isEncrypted: pair, queue: queue, say: outcome.say)
            }
            let timeout = timeout
            let sender = ChannelSender(
                to: to,
                psm: psm,
                size: size,
                queue: queue,
                say: { if !outcome.isKnown { report.say($0) } },
                echoed: { octets in
                    if !outcome.isKnown {
                        report.show(EchoDocument(octets: octets), as: "\(count(octets, "octet")) came back")
                    }
                },
                finish: { outcome.finish($0.map { .failure(.incomplete($0)) } ?? .success(())) }
            )
            queue.asyncAfter(deadline: .now() + timeout) {
                outcome.finish(.failure(Self.late(sender, to, timeout)))
            }
            return sender
        }
        try outcome.wait(thenStopping: system)
        withExtendedLifetime((app, prompter)) {}
    }
}

extension ChannelCommand {
    /// The failure when the time limit has passed. On the queue of the sender.
    private static func late(_ sender: ChannelSender, _ name: String, _ timeout: Double) -> ToolError {
        guard !sender.hasFound, let selector = DeviceSelector(argument: name) else {
            return .incomplete("the echo was not complete within \(timeout) s")
        }
        return .noSuchDevice(selector, .explore, seconds: timeout, found: sender.found)
    }
}

/// An echo that is complete. One that differs from what was sent is followed by an error.
private struct EchoDocument: ReportDocument {
    static let event = "echoed"

    let octets: Int
}
