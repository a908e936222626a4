import ArgumentParser
import BluetoothService
import CoreBluetooth
import EventLoops
import HCITransports
import ServiceMessages

struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract:
            "Echo data on L2CAP channels until interrupted; with --to, send data and verify the echo.",
        discussion: """
            Examples:
              harald channel --controller hci0
              harald channel --controller hci1 --to "Harald echo" --size 20000

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed))
            """
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var trust: TrustOptions

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
        guard (1...(1 << 30)).contains(size) else { throw ValidationError("--size must be from 1 to 1073741824") }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be greater than 0 and at most 86400")
        }
    }

    func run() throws {
        do throws(ToolError) {
            try work()
        } catch {
            throw error.report()
        }
    }

    private func work() throws(ToolError) {
        let outcome = Outcome()
        // Without --to it runs until it is interrupted.
        if to == nil { outcome.finishOnInterrupt() } else { Interrupts.onEnd { outcome.finish(.failure($0)) } }
        let queue = DispatchQueue(label: "channel")
        let capture = try line.captureFile()
        let loop = NIOEventLoop()
        let system = line.startSystem(named: name, trust: trust, loop: loop, capture: capture, outcome: outcome)
        // Without a prompter, the system declines to pair.
        let prompter = pair ? trust.prepare(system, outcome) : nil
        let connection = system.with { $0.openApp(AppIdentity(name: "channel")) }
        let app: NSObject = ServiceLocator.$current.withValue(connection) {
            guard let to else {
                return ChannelEcho(name: name, isEncrypted: pair, queue: queue, say: outcome.say)
            }
            let timeout = timeout
            queue.asyncAfter(deadline: .now() + timeout) {
                outcome.finish(.failure(.incomplete("the echo was not complete within \(timeout) s")))
            }
            return ChannelSender(to: to, psm: psm, size: size, queue: queue, say: outcome.say) { failure in
                outcome.finish(failure.map { .failure(.incomplete($0)) } ?? .success(()))
            }
        }
        let result: Result<Void, ToolError>
        do throws(ToolError) {
            try outcome.wait()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        system.stop { $0.stop($1) }
        withExtendedLifetime((app, prompter)) {}
        try result.get()
    }
}
