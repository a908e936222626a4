import AppStandIns
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import TestBasics
import Testing

/// Peripheral managers that outlive their app's process.
@Suite struct PeripheralRestorationTests {
    /// A central that reads a belt's note when the test asks.
    private final class Reader: CentralStandIn, @unchecked Sendable {
        let journal = Notes<String>()
        private let queue = DispatchQueue(label: "reader")
        // Safe: accessed only on the queue.
        private var note: CBCharacteristic?

        init() { super.init(seeking: [Belt.service], on: queue) }

        func read() { queue.sync { if let found, let note { found.readValue(for: note) } } }

        override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
            guard characteristic.uuid == Belt.note else { return }
            note = characteristic
            journal.add("ready")
        }

        override func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            journal.add(
                error.map { "error \(($0 as NSError).code)" } ?? "value \(Array(characteristic.value ?? Data()))"
            )
        }
    }

    private static let restored = [
        "launched for [\"peripheral sensor\"]", "restores in state 0, advertises Belt [Heart Rate] true",
        "restored 2A37, 0 subscribed", "restored 2A39, 0 subscribed",
        "state 5, advertising true",
    ]

    @Test("behaviours 10.3 to 10.7, 10.12: a read launches an ended app, which answers it")
    func aReadLaunchesTheApp() {
        let world = RestorationWorld()
        let reader = world.phone.launch("reader") { _ in Reader() }
        world.world.run(for: .seconds(5))
        #expect(reader.journal.take() == ["ready"])
        _ = world.sensed.take()
        world.sensorApp.crash()
        world.forgetSensor()
        world.world.run(for: .seconds(600))
        #expect(world.sensed.take().isEmpty)
        #expect(world.belt.advertisedAddress != nil)
        reader.read()
        world.world.run(for: .seconds(2))
        #expect(world.sensed.take() == Self.restored + ["read of 2A39"])
        #expect(reader.journal.take() == ["value [7]"])
        #expect(world.sensorApp.phase == .background)
    }

    @Test("behaviours 10.4, 10.12: a subscribed central stays subscribed, and the new process sends to it")
    func aSubscriberStays() {
        let world = RestorationWorld().collecting()
        world.sensorApp.removeFromMemory()
        world.forgetSensor()
        world.world.run(for: .seconds(60))
        #expect(world.collected.take().isEmpty)
        #expect(world.sensed.take().isEmpty)
        world.belt.open("sensor")
        world.world.run(for: .seconds(1))
        #expect(
            world.sensed.take() == [
                "launched by the person, with [\"peripheral sensor\"]",
                "restores in state 0, advertises Belt [Heart Rate] true",
                "restored 2A37, 1 subscribed", "restored 2A39, 0 subscribed",
                "state 5, advertising true",
            ]
        )
        for value in UInt8(60)..<90 { world.measure(value) }
        #expect(world.collected.take() == (60..<90).map { "value [0, \($0)]" })
    }

    @Test(
        "behaviours 10.4, 10.7: while the app is gone, a central discovers, connects and subscribes, which launches it"
    )
    func subscribingLaunchesTheApp() {
        let world = RestorationWorld()
        _ = world.sensed.take()
        world.sensorApp.crash()
        world.forgetSensor()
        world.collect(keepingSensed: true)
        #expect(world.sensed.take() == Self.restored + ["subscribed to 2A37"])
        world.measure(61)
        #expect(world.collected.take() == ["value [0, 61]"])
    }

    @Test("behaviour 10.4: a read that a process did not answer before it ended goes to the next one")
    func aReadThatWasNotAnswered() {
        let world = RestorationWorld()
        let reader = world.phone.launch("reader") { _ in Reader() }
        world.world.run(for: .seconds(5))
        _ = (reader.journal.take(), world.sensed.take())
        // The app is suspended when the request arrives, is resumed for it, and dies before it responds.
        world.sensorApp.leave()
        world.world.run(for: .seconds(31))
        let app = world.sensorApp
        reader.read()
        world.world.run(for: .milliseconds(1))
        app.crash()
        world.forgetSensor()
        world.world.run(for: .seconds(2))
        #expect(reader.journal.take() == ["value [7]"])
        #expect(world.sensed.take().last == "read of 2A39")
    }

    @Test(
        "behaviours 1.5, 10.4, 10.15: the table and the advertisement of an ended app survive a controller reset",
        arguments: [true, false]
    )
    func theTableOutlivesTheController(isUnplugged: Bool) {
        let world = RestorationWorld()
        _ = world.sensed.take()
        world.sensorApp.crash()
        world.forgetSensor()
        if isUnplugged {
            world.belt.setController(isPluggedIn: false)
            world.world.run(for: .seconds(10))
            world.belt.setController(isPluggedIn: true)
        } else {
            world.belt.setPower(false, by: .controlCentre)
            world.world.run(for: .seconds(10))
            world.belt.setPower(true, by: .controlCentre)
        }
        world.world.run(for: .seconds(10))
        #expect(world.sensed.take().isEmpty)
        #expect(world.belt.advertisedAddress != nil)
        world.collect(keepingSensed: true)
        #expect(world.sensed.take() == Self.restored + ["subscribed to 2A37"])
    }

    @Test(
        "behaviours 9.14, 10.6, 10.16: state that is not preserved or was dropped is gone from the air and the table",
        arguments: [0, 1, 2]
    )
    func droppedStateLeavesTheAirAndTheTable(how: Int) {
        let world = RestorationWorld(sensor: how == 0 ? nil : Sensor.identifier)
        let reader = world.phone.launch("reader") { _ in Reader() }
        world.world.run(for: .seconds(5))
        _ = (reader.journal.take(), world.sensed.take())
        switch how {
        case 0: world.sensorApp.crash()
        case 1: world.sensorApp.forceQuit()
        default:
            let sensed = world.sensed
            world.sensorApp.crash()
            world.belt.install("sensor", declaring: AppDeclaration(backgroundModes: .peripheral)) { _, launch in
                sensed.note(launch.line)
                return 0
            }
            reader.read()
            world.world.run(for: .seconds(2))
            #expect(sensed.take() == ["launched for [\"peripheral sensor\"]"])
            world.world.run(for: .seconds(10))
            #expect(reader.journal.take() == ["error 14"])
        }
        world.forgetSensor()
        world.world.run(for: .seconds(1))
        #expect(world.belt.advertisedAddress == nil)
        reader.read()
        world.world.run(for: .seconds(5))
        #expect(reader.journal.take().allSatisfy { $0.hasPrefix("error") })
        #expect(world.sensed.take().isEmpty)
    }
}
