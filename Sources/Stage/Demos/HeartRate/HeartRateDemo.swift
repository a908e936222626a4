import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import Foundation
import Synchronization

/// A heart-rate sensor and an app that connect on the virtual radio, pair, and reconnect, told line by line.
package struct HeartRateDemo: Sendable {
    /// The reason why the story has no good end.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case appGaveUp
        case late

        package var description: String {
            switch self {
            case .appGaveUp: "the app did not finish"
            case .late: "the demo did not end within \(HeartRateDemo.limit)"
            }
        }
    }

    /// Receives the octets of a capture as they come.
    package typealias Capture = @Sendable ([UInt8]) -> Void

    private static let rates = 10
    /// The limit in the time of the world if the demo does not end by itself.
    private static let limit = Duration.seconds(60)
    /// The time in which the disconnection still reaches the sensor.
    private static let closingPause = Duration.milliseconds(100)
    /// How long a device uses one private address. A quarter of an hour is usual, but too long to watch.
    private static let addressLifetime = Duration.seconds(5)
    /// How long a simulated user takes to react to an alert.
    private static let reactionTime = Duration.seconds(2)

    package let phone: SimulatedDevice
    package let sensor: SimulatedDevice
    private let seed: UInt64
    private let pace: Pace?
    private let show: @Sendable (String) -> Void

    /// Adds the devices to a world of their own.
    ///
    /// - Parameters:
    ///   - seed: The seed for all random numbers.
    ///   - pace: The speed of the world's time; nil for as fast as possible. At a pace, its calendar is today's.
    ///   - captures: Receive the HCI packets of the phone and of the sensor, and the traffic on the air.
    ///   - show: Called with each line for the user.
    package init(
        seed: UInt64 = 1,
        at pace: Pace?,
        captures: (phone: Capture?, sensor: Capture?, air: Capture?) = (nil, nil, nil),
        show: @escaping @Sendable (String) -> Void
    ) {
        let start = pace == nil ? SimulatedWorld.defaultCalendarStart : Date().timeIntervalSince1970
        let world = SimulatedWorld(seed: seed, calendarStart: start)
        if let capture = captures.air { world.captureAir(to: capture) }
        let options = DeviceOptions(addressLifetime: Self.addressLifetime)
        phone = world.addDevice(named: "Phone", options: options, capture: captures.phone)
        sensor = world.addDevice(
            named: "Harald HR",
            at: Position(x: 2, y: 1),
            options: options,
            capture: captures.sensor
        )
        self.seed = seed
        self.pace = pace
        self.show = show
    }

    private var world: SimulatedWorld { phone.world }

    /// Tells the story to its end.
    ///
    /// - Parameter begin: Called when the apps run, before time passes.
    package func run(begin: () -> Void = {}) throws(Failure) {
        show("A heart-rate sensor and an app on the virtual radio, seed \(seed)")
        show("")
        let air = speaker("air")
        world.captureAir { record in
            if Refusal.isAt(record) { air("the sensor refuses: insufficient authentication; the phone pairs") }
        }
        seat(phone.person, at: "app", seeing: sensor)
        seat(sensor.person, at: "sensor", seeing: phone)
        // Whether the app succeeded, once it has ended. The first outcome counts.
        let outcome = Mutex<Bool?>(nil)
        let people = (launchSensor(), launchApp { isComplete in outcome.withLock { $0 = $0 ?? isComplete } })
        begin()
        world.run(for: Self.limit, at: pace) { outcome.withLock { $0 } != nil }
        guard let isComplete = outcome.withLock({ $0 }) else { throw .late }
        guard isComplete else { throw .appGaveUp }
        world.run(for: Self.closingPause, at: pace)
        withExtendedLifetime(people) {}
        summarise()
    }

    /// Returns a function that shows what someone says, with the time of the world.
    package func speaker(_ who: String) -> @Sendable (String) -> Void {
        let (world, show) = (world, show)
        return { text in
            let seconds = String(format: "%8.3f", Double(world.now.nanoseconds) / 1e9)
            show("\(seconds)  \(who.padding(toLength: 6, withPad: " ", startingAt: 0))  \(text)")
        }
    }

    /// Gives a device a user who agrees to pair and who can also see the other device.
    private func seat(_ person: SimulatedPerson, at who: String, seeing other: SimulatedDevice) {
        let say = speaker(who)
        person.behaves(.agrees(lookingAt: [other]), after: Self.reactionTime)
        person.watchAlerts { alert in say("[ \(Self.text(of: alert)) ]") }
    }

    private static func text(of alert: PairingAlert) -> String {
        let peer = alert.peer?.quotedName ?? "a device"
        let origin =
            switch alert.origin {
            case .peer: "\(peer) wants to pair"
            case .apps(let apps):
                "pair with \(peer), as \(apps.first?.quotedName ?? "an app") asks"
            }
        let question =
            switch alert.content {
            case .asksWhetherToPair: "yes or no?"
            case .asksWhetherToPairAnew: "again?"
            case .showsCode(let code): "enter \(code) there"
            case .asksForCode: "enter the code that it shows"
            case .asksForCodeOnBoth: "make up six digits, and enter them here and there"
            case .comparesCode(let code): "does it show \(code) too?"
            }
        return "\(origin): \(question)"
    }

    private func launchSensor() -> HeartRateSensor {
        let queue = DispatchQueue(label: "sensor")
        return sensor.launch("sensor") { app in
            HeartRateSensor(
                name: "Harald HR",
                queue: queue,
                metronome: { app.everyInterval(.seconds($0), on: queue, $1) },
                say: speaker("sensor")
            )
        }
    }

    private func launchApp(finish: @escaping @Sendable (Bool) -> Void) -> HeartRateApp {
        let (app, air, sensor) = (speaker("app"), speaker("air"), sensor)
        return phone.launch("app") { _ in
            HeartRateApp(
                queue: DispatchQueue(label: "app"),
                rates: Self.rates,
                say: { text in
                    app(text)
                    // Information that the app never gets.
                    guard text.hasPrefix("found"), let address = sensor.advertisedAddress else { return }
                    air("the sensor advertises with the address \(address)")
                },
                finish: finish
            )
        }
    }

    private func summarise() {
        show("")
        for (name, device) in [("app", phone), ("sensor", sensor)] {
            let traffic = device.traffic
            show(
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
        show(String(format: "%.3f s of simulated time", Double(world.now.nanoseconds) / 1e9))
    }
}
