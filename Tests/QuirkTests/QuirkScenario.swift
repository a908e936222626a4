import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import Radio
import Testing

@testable import BluetoothService

/// A phone and a sensor whose controllers may have quirks: the phone finds the sensor, connects, pairs, is notified, leaves, and
/// comes back with the bond that there is now.
struct QuirkScenario {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let sensor: SimulatedDevice
    let visitor: QuirkVisitor
    private let app: QuirkSensor

    /// How long two visits may take.
    static let limit = Duration.seconds(120)

    init(
        seed: UInt64 = 1,
        phone ofPhone: Set<ControllerQuirk> = [],
        sensor ofSensor: Set<ControllerQuirk> = [],
        addressLifetime: Duration = .seconds(900),
        hasVisitor: Bool = true,
        phoneCapture: OctetLog? = nil
    ) {
        let world = SimulatedWorld(seed: seed)
        var options = DeviceOptions(addressLifetime: addressLifetime)
        var capture: (@Sendable ([UInt8]) -> Void)?
        if let phoneCapture { capture = { octets in phoneCapture.add(octets) } }
        options.quirks = ofPhone
        let phone = world.addDevice(named: "Phone", options: options, capture: capture)
        options.quirks = ofSensor
        let sensor = world.addDevice(named: "Sensor", at: Position(x: 1), options: options)
        app = sensor.launch("sensor") { _ in QuirkSensor() }
        phone.person.behaves(.agrees(lookingAt: [sensor]), after: .milliseconds(100))
        sensor.person.behaves(.agrees(lookingAt: [phone]), after: .milliseconds(100))
        // An app on a device of its own sees nobody.
        let host = hasVisitor ? phone : world.addDevice(named: "Elsewhere", at: Position(x: 10_000))
        visitor = host.launch("visitor") { _ in QuirkVisitor() }
        (self.world, self.phone, self.sensor) = (world, phone, sensor)
    }

    /// Runs until the visitor has been there so many times.
    func visits(_ count: Int, within limit: Duration = limit) -> Bool {
        let visitor = visitor
        return world.run(for: limit) { visitor.seen.visits >= count }
    }

    /// How far it came, for a test that fails.
    var story: String {
        let seen = visitor.seen
        return """
            \(seen.visits) visits after \(world.now), states \(seen.states.map(\.rawValue)), errors \(seen.errors), \
            phone \(phone.quirksShown), sensor \(sensor.quirksShown)
            """
    }
}
