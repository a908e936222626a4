import ArgumentParser
import BluetoothService
import CoreBluetooth
import Demos
import EventLoops
import HCITransports
import ServiceMessages

struct CollectCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Act as a gateway: connect to several heart-rate sensors at once, and follow all of them.",
        discussion: """
            Examples:
              harald collect --sensors 2 --measurements 10
              harald collect --sensors 2 --json

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed))
            """
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var showing: ShowingOptions

    @Option(help: ArgumentHelp("The number of sensors.", valueName: "N"))
    var sensors = 3

    @Option(help: ArgumentHelp("The number of measurements from each sensor.", valueName: "N"))
    var measurements = 3

    @Option(help: ArgumentHelp("The time limit, in seconds.", valueName: "SECONDS"))
    var timeout = 30.0

    func validate() throws {
        guard (1...100).contains(sensors) else { throw ValidationError("--sensors must be from 1 to 100") }
        guard (1...1_000_000).contains(measurements) else {
            throw ValidationError("--measurements must be from 1 to 1000000")
        }
        try checkSeconds(timeout, of: "--timeout")
    }

    func execute() throws(ToolError) {
        Console.endWithReader()
        let outcome = Outcome()
        Interrupts.onEnd { outcome.finish(.failure($0)) }
        let queue = DispatchQueue(label: "collector")
        let (timeout, sensors, measurements) = (timeout, sensors, measurements)
        let print = CollectorPrinter(report: report, sensors: sensors, measurements: measurements)
        let capture = try line.captureFile()
        let system = line.startSystem(named: "Harald", loop: NIOEventLoop(), capture: capture, outcome: outcome)
        let connection = system.with { $0.openApp(AppIdentity(name: "collect")) }
        let collector = ServiceLocator.$current.withValue(connection) {
            HeartRateCollector(
                queue: queue,
                sensors: sensors,
                measurements: measurements,
                onEvent: { if !outcome.isKnown { print.show($0) } },
                finish: { outcome.finish(.success(())) }
            )
        }
        queue.asyncAfter(deadline: .now() + timeout) {
            let text =
                "\(collector.linked) of \(sensors) sensors were connected after \(timeout) s, \(collector.done) done"
            outcome.finish(.failure(.incomplete(text)))
        }
        defer { system.stop { $0.stop($1) } }
        try outcome.wait()
        withExtendedLifetime(collector) {}
    }
}
