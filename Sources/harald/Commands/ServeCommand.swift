import ArgumentParser
import BluetoothService
import CoreBluetooth
import Demos
import EventLoops
import HCITransports
import ServiceMessages

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the heart-rate sensor on a controller until interrupted.",
        discussion: """
            SIGUSR1 adds a battery service, or removes it, even while centrals are connected.

            Examples:
              harald serve
              harald serve --controller tcp:127.0.0.1:9100 --name Pulse

            \(ExitStatus.textUntilInterrupted(.controllerUnreachable, .controllerFailed))
            """
    )

    @OptionGroup var line: ControllerOptions
    @OptionGroup var trust: TrustOptions

    @Option(help: ArgumentHelp("The name to advertise.", valueName: "NAME"))
    var name = "Harald HR"

    func run() throws {
        do throws(ToolError) {
            try serve()
        } catch {
            throw error.report()
        }
    }

    private func serve() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let loop = NIOEventLoop()
        let capture = try line.captureFile()
        let name = name
        ShortenedName.notice(name, with: [HeartRateProfile.service]).map(Console.line)
        let queue = DispatchQueue(label: "sensor")
        let system = line.startSystem(named: name, trust: trust, loop: loop, capture: capture, outcome: outcome)
        let prompter = trust.prepare(system, outcome)
        let connection = system.with { $0.openApp(AppIdentity(name: "serve")) }
        let sensor = ServiceLocator.$current.withValue(connection) {
            HeartRateSensor(name: name, queue: queue, metronome: Self.metronome(on: queue), say: outcome.say)
        }
        Interrupts.on(SIGUSR1, queue: queue) { sensor.toggleBattery() }
        let result: Result<Void, ToolError>
        do throws(ToolError) {
            try outcome.wait()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        system.stop { $0.stop($1) }
        withExtendedLifetime((sensor, prompter)) {}
        try result.get()
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
