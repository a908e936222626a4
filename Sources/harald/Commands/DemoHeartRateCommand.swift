import ArgumentParser
import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import Demos
import EventLoops
import Foundation
import HCI
import HCITransports
import Radio
import Synchronization

struct DemoHeartRateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heart-rate",
        abstract: "Run a heart-rate sensor and an app that connect on the virtual radio, pair, and reconnect.",
        discussion: """
            Unless time is virtual, a line that you type begins a fault of the sensor, such as out-of-range or lossy=0.5; "end \
            out-of-range" ends it, and "?" lists the faults.

            Examples:
              harald demo heart-rate
              harald demo heart-rate --virtual-time --seed 2
              harald demo heart-rate --capture heart.btsnoop --air heart.pcapng

            \(ExitStatus.text())
            """
    )

    /// The number of measurements that the app follows.
    private static let rates = 10
    /// The limit in virtual time if the demo does not end by itself.
    private static let limit = Duration.seconds(60)
    /// How long a device uses one private address. A quarter of an hour is usual, but too long to watch.
    private static let addressLifetime = Duration.seconds(5)
    /// How long a simulated user takes to react to an alert.
    private static let reactionTime = Duration.seconds(2)

    @Option(help: ArgumentHelp("The seed for all random numbers of the simulation.", valueName: "N"))
    var seed: UInt64 = 1

    @Flag(help: "Run in virtual time: the same events, without waiting.")
    var virtualTime = false

    @Option(
        help: ArgumentHelp(
            "Write the app's HCI packets to this btsnoop file, and the sensor's next to it (NAME.sensor.EXT).",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var capture: String?

    @Option(help: ArgumentHelp("Write all radio traffic to this pcapng file.", valueName: "FILE"), completion: .file())
    var air: String?

    func run() throws {
        do throws(ToolError) {
            try runDemo()
        } catch {
            throw error.report()
        }
    }

    private func runDemo() throws(ToolError) {
        let began = Date()
        let realLoop = virtualTime ? nil : NIOEventLoop()
        let world = SimulatedWorld(
            seed: seed,
            loop: realLoop ?? VirtualEventLoop(),
            calendarStart: virtualTime ? SimulatedWorld.defaultCalendarStart : began.timeIntervalSince1970
        )
        if let write = try captureFile(air) { world.captureAir(to: write) }
        let air = Self.speaker("air", world: world)
        world.captureAir { record in
            if Refusal.isAt(record) { air("the sensor refuses: insufficient authentication; the phone pairs") }
        }
        let options = DeviceOptions(addressLifetime: Self.addressLifetime)
        let phone = world.addDevice(named: "Phone", options: options, capture: try captureFile(capture))
        let sensor = world.addDevice(
            named: "Harald HR",
            at: Position(x: 2, y: 1),
            options: options,
            capture: try captureFile(capture.map { CaptureFile.sibling(of: $0, named: "sensor") })
        )
        Console.line("A heart-rate sensor and an app on the virtual radio, seed \(seed)")
        Console.line("")
        seat(phone.person, at: "app", seeing: sensor)
        seat(sensor.person, at: "sensor", seeing: phone)
        let outcome = Outcome()
        let people = launch(phone: phone, sensor: sensor, outcome: outcome)
        if !virtualTime {
            DemoFaults(device: sensor, app: "sensor", say: Self.speaker("fault", world: world)).readLines()
        }
        let ended: Result<Void, ToolError> = .failure(.incomplete("the demo did not end within \(Self.limit)"))
        if virtualTime {
            world.run(for: Self.limit) { outcome.isKnown }
            outcome.finish(ended)
        } else {
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60)) { outcome.finish(ended) }
        }
        try outcome.wait()
        // The disconnection is still on its way to the sensor.
        if virtualTime { world.run(for: .milliseconds(100)) } else { Thread.sleep(forTimeInterval: 0.1) }
        summarise(world: world, devices: [("app", phone), ("sensor", sensor)], began: began)
        withExtendedLifetime(people) {}
    }

    /// Gives a device a user who agrees to pair and who can also see the other device.
    private func seat(_ person: SimulatedPerson, at who: String, seeing other: SimulatedDevice) {
        let say = Self.speaker(who, world: other.world)
        person.behaves(.agrees(lookingAt: [other]), after: Self.reactionTime)
        person.watchAlerts { alert in say("[ \(Self.text(of: alert)) ]") }
    }

    private static func text(of alert: PairingAlert) -> String {
        let peer = alert.peer?.quotedName ?? "a device"
        return switch alert.content {
        case .asksWhetherToPair: "pair with \(peer)?"
        case .asksWhetherToPairAnew: "pair with \(peer) again?"
        case .showsCode(let code): "enter the code \(code) on \(peer)"
        case .asksForCode: "enter the code that \(peer) shows"
        case .comparesCode(let code): "does \(peer) show \(code) too?"
        }
    }

    private func captureFile(_ path: String?) throws(ToolError) -> (@Sendable ([UInt8]) -> Void)? {
        guard let path else { return nil }
        let file = try CaptureFile.named(path)
        return { file.write($0) }
    }

    private func launch(
        phone: SimulatedDevice,
        sensor: SimulatedDevice,
        outcome: Outcome
    ) -> (HeartRateSensor, HeartRateApp) {
        let sensorQueue = DispatchQueue(label: "sensor")
        let (app, air) = (Self.speaker("app", world: phone.world), Self.speaker("air", world: phone.world))
        let people = (
            sensor.launch("sensor") { app in
                HeartRateSensor(
                    name: "Harald HR",
                    queue: sensorQueue,
                    metronome: { app.everyInterval(.seconds($0), on: sensorQueue, $1) },
                    say: Self.speaker("sensor", world: sensor.world)
                )
            },
            phone.launch("app") { _ in
                HeartRateApp(
                    queue: DispatchQueue(label: "app"),
                    rates: Self.rates,
                    say: { text in
                        app(text)
                        // Information that the app never gets.
                        guard text.hasPrefix("found"), let address = sensor.advertisedAddress else { return }
                        air("the sensor advertises with the address \(address)")
                    },
                    finish: { isComplete in
                        outcome.finish(isComplete ? .success(()) : .failure(.incomplete("the app did not finish")))
                    }
                )
            }
        )
        return people
    }

    private static func speaker(_ who: String, world: SimulatedWorld) -> @Sendable (String) -> Void {
        { text in
            let seconds = String(format: "%8.3f", Double(world.now.nanoseconds) / 1e9)
            Console.line("\(seconds)  \(who.padding(toLength: 6, withPad: " ", startingAt: 0))  \(text)")
        }
    }

    private func summarise(world: SimulatedWorld, devices: [(String, SimulatedDevice)], began: Date) {
        Console.line("")
        for (name, device) in devices {
            let traffic = device.traffic
            Console.line(
                String(
                    format: "%@: %d HCI packets down, %d up; on the air %.1f ms sending, %.1f ms listening",
                    name.padding(toLength: 6, withPad: " ", startingAt: 0),
                    traffic.packetsToController,
                    traffic.packetsToHost,
                    Double(traffic.sending.nanoseconds) / 1e6,
                    Double(traffic.listening.nanoseconds) / 1e6
                )
            )
        }
        Console.line(String(format: "%.3f s of simulated time", Double(world.now.nanoseconds) / 1e9))
        if let capture {
            Console.line("HCI packets written to \(capture) and \(CaptureFile.sibling(of: capture, named: "sensor"))")
        }
        if let air { Console.line("radio traffic written to \(air)") }
    }
}
