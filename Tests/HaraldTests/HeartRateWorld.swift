import BluetoothSimulation
import CoreBluetooth
import Demos
import EventLoops
import Foundation
import LinkLayer
import Synchronization
import TestBasics

/// The sensor and the app of the demo in a world of their own, with their output and all packets.
final class HeartRateWorld: Sendable {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let sensor: SimulatedDevice
    let said = Mutex<[String]>([])
    let phoneCapture = Recording()
    let sensorCapture = Recording()
    /// The air as received by a sniffer near the phone, and by one without a position.
    let nearCapture = Recording()
    let airCapture = Recording()
    /// Whether the app succeeded. Nil while it is running.
    let outcome = Mutex<Bool?>(nil)
    private let people = Mutex<[any Sendable]>([])

    init(
        seed: UInt64,
        lossRate: Double = 0,
        interference: [Interference] = [],
        isSniffed: Bool = false,
        rates: Int = 10,
        pairs: Bool = true,
        hasExtendedAdvertising: Bool = true
    ) {
        var air = Radio.Configuration()
        air.lossRate = lossRate
        air.interference = interference
        world = SimulatedWorld(seed: seed, radio: air)
        if isSniffed {
            world.captureAir(at: Position(x: 0.5), to: nearCapture.add)
            world.captureAir(to: airCapture.add)
        }
        let options = DeviceOptions(hasExtendedAdvertising: hasExtendedAdvertising, addressLifetime: .seconds(5))
        phone = world.addDevice(named: "Phone", options: options, capture: phoneCapture.add)
        sensor = world.addDevice(
            named: "Harald HR",
            at: Position(x: 2, y: 1),
            options: options,
            capture: sensorCapture.add
        )
        if pairs {
            phone.person.behaves(.agrees(lookingAt: [sensor]), after: .seconds(1))
            sensor.person.behaves(.agrees(lookingAt: [phone]), after: .seconds(1))
        }
        launch(rates: rates)
    }

    private func launch(rates: Int) {
        let queue = DispatchQueue(label: "sensor")
        let heart = sensor.launch("sensor") { app in
            HeartRateSensor(
                name: "Harald HR",
                queue: queue,
                metronome: { app.everyInterval(.seconds($0), on: queue, $1) },
                say: { [self] in say("sensor: \($0)") }
            )
        }
        let app = phone.launch("app") { _ in
            HeartRateApp(
                queue: DispatchQueue(label: "app"),
                rates: rates,
                say: { [self] in say("app: \($0)") },
                finish: { [self] isComplete in outcome.withLock { $0 = $0 ?? isComplete } }
            )
        }
        people.withLock { $0 = [heart, app] }
    }

    private func say(_ text: String) {
        said.withLock { $0.append(text) }
    }

    /// Advances time until the app has finished, and a little longer for the disconnection.
    func runToTheEnd(limit: Duration = .seconds(60)) -> Bool? {
        world.run(for: limit) { [self] in outcome.withLock { $0 != nil } }
        world.run(for: .milliseconds(200))
        return outcome.withLock { $0 }
    }
}
