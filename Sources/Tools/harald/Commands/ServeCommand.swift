import Accessories
import ArgumentParser
import BluetoothService
import CoreBluetooth
import Demos
import EventLoops
import HCITransports
import ServiceMessages

struct ServeCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an accessory on a controller until interrupted.",
        discussion: """
            Without an accessory, it is the heart-rate sensor of the demo: SIGUSR1 adds a battery service, or removes it, even \
            while centrals are connected. Documentation/Accessories.md describes accessory files.

            Examples:
              harald serve
              harald serve --controller tcp:127.0.0.1:9100 --name Pulse
              harald serve --list
              harald serve --json
              harald serve thermometer
              harald serve --print lock > lock.json
              harald serve lock.json
              harald serve --fault slow-answers=2 --fault reboot@30 lock

            \(ExitStatus.textUntilInterrupted(.controllerUnreachable, .controllerFailed))
            """
    )

    @Argument(
        help: ArgumentHelp(
            "An accessory file in JSON, or the name of a ready-made accessory (default: the sensor of the demo).",
            valueName: "ACCESSORY"
        ),
        completion: .file(extensions: ["json"])
    )
    var accessory: String?

    @OptionGroup var line: ControllerOptions
    @OptionGroup var trust: TrustOptions
    @OptionGroup var showing: ShowingOptions

    @Option(
        help: ArgumentHelp("The name to advertise (default: that of the accessory, or Harald HR).", valueName: "NAME")
    )
    var name: String?

    @Option(
        help: ArgumentHelp(
            """
            A fault of the accessory, NAME[=NUMBER][@START[-END]] with times in seconds; may be given several times. \
            --list-faults lists the names.
            """,
            valueName: "FAULT"
        ),
        transform: ServeCommand.fault
    )
    var fault: [ScheduledFault] = []

    @Flag(help: "List the faults that an accessory can have, and exit.")
    var listFaults = false

    @Flag(help: "List the ready-made accessories, and exit.")
    var list = false

    @Flag(help: "Print the file of the accessory, and exit.")
    var print = false

    private static func fault(_ text: String) throws -> ScheduledFault {
        do {
            return try ScheduledFault(text)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func validate() throws {
        if name?.isEmpty == true { throw ValidationError("--name must not be empty") }
        if !fault.isEmpty, accessory == nil {
            throw ValidationError("--fault needs an accessory; --list lists them")
        }
        if print, accessory == nil {
            throw ValidationError("--print needs the name of an accessory; --list lists them")
        }
    }

    func execute() throws(ToolError) {
        if listFaults { return ServedAccessory.listFaults(in: report) }
        if list { return ServedAccessory.list(in: report) }
        guard let accessory else { return try serve(report) }
        let served = try ServedAccessory(accessory, name: name)
        if print { return Console.lines(served.accessory.json) }
        try served.serve(line, trust, faults: fault, report)
    }

    private func serve(_ report: ToolReport) throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let capture = try line.captureFile()
        let name = name ?? "Harald HR"
        ShortenedName.notice(name, with: [HeartRateProfile.service]).map(report.say)
        let queue = DispatchQueue(label: "sensor")
        let system = line.startSystem(named: name, trust: trust, loop: loop, capture: capture, outcome: outcome)
        let prompter = trust.prepare(system, outcome, say: report.isJSON ? Console.problem : Console.line)
        let connection = system.with { $0.openApp(AppIdentity(name: "serve")) }
        let advertised = ShortenedName.advertised(name, with: [HeartRateProfile.service])
        let sensor = ServiceLocator.$current.withValue(connection) {
            HeartRateSensor(name: advertised, queue: queue, metronome: Self.metronome(on: queue)) {
                outcome.say($0, in: report)
            }
        }
        Interrupts.on(SIGUSR1, queue: queue) { sensor.toggleBattery() }
        try outcome.wait(thenStopping: system)
        withExtendedLifetime((sensor, prompter)) {}
    }

    private static func metronome(on queue: DispatchQueue) -> HeartRateSensor.Metronome {
        { interval, tick in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + interval, repeating: interval)
            // The handler retains the timer, so the timer lives as long as the program.
            timer.setEventHandler {
                _ = timer
                tick()
            }
            timer.resume()
        }
    }
}
