import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService

/// A phone and a sensor whose controllers may have quirks. The phone finds the sensor, connects, pairs, gets
/// notifications, disconnects, and comes back with the bond.
struct QuirkScenario {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let sensor: SimulatedDevice
    let visitor: QuirkVisitor
    private let app: QuirkSensor
    private let sentences: Sentences

    /// The time limit for two visits.
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
        // An app on a distant device discovers nothing.
        let host = hasVisitor ? phone : world.addDevice(named: "Elsewhere", at: Position(x: 10_000))
        visitor = host.launch("visitor") { _ in QuirkVisitor() }
        let sentences = Sentences()
        for device in [phone, sensor] {
            _ = device.withSystem { system in
                system.observers.add([.notices]) { observation in
                    guard case .noticed(let notice) = observation.content, case .controllerStaysBroken = notice else {
                        return
                    }
                    sentences.add("\(notice)", at: device.name)
                }
            }
        }
        (self.world, self.phone, self.sensor, self.sentences) = (world, phone, sensor, sentences)
    }

    /// The advice about controllers given to users, and on which device.
    var advice: [Sentences.Said] { sentences.all }

    /// Runs until a user gets advice.
    func untilAdvised(within limit: Duration) -> Bool {
        let (sentences, before) = (sentences, sentences.all.count)
        return world.run(for: limit) { sentences.all.count > before }
    }

    /// Runs until the visitor has completed so many visits, with users who power a controller off briefly when they are
    /// told that only that helps.
    func visits(_ count: Int, within limit: Duration = limit) -> Bool {
        let (visitor, sentences) = (visitor, sentences)
        var heeded = 0
        // Each of the two devices has one controller, which is powered off once.
        for _ in 0...2 {
            let known = heeded
            let isOver = world.run(for: limit) { visitor.seen.visits >= count || sentences.all.count > known }
            if visitor.seen.visits >= count { return true }
            guard isOver else { return false }
            let said = sentences.all[heeded]
            heeded += 1
            let device = said.device == phone.name ? phone : sensor
            device.setController(isPluggedIn: false)
            world.run(for: .seconds(1))
            device.setController(isPluggedIn: true)
        }
        return false
    }

    /// The progress so far, for a failing test.
    var story: String {
        let seen = visitor.seen
        return """
            \(seen.visits) visits after \(world.now), states \(seen.states.map(\.rawValue)), errors \(seen.errors), \
            phone \(phone.quirksShown), sensor \(sensor.quirksShown), at \(sensor.advertisedAddress ?? "none"), \
            \(sensor.withSystem { "\($0.controllers.state)" }), advice \(advice.map(\.device))
            """
    }
}

final class Sentences: Sendable {
    struct Said: Sendable {
        var device: String
        var words: String
    }

    private let said = Mutex<[Said]>([])
    var all: [Said] { said.withLock { $0 } }
    func add(_ words: String, at device: String = "") {
        said.withLock { $0.append(Said(device: device, words: words)) }
    }
}
