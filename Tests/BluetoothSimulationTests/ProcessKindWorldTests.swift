import BluetoothSimulation
import CoreBluetooth
import Foundation
import Testing

/// Stories of processes of other kinds than apps.
@Suite struct ProcessKindWorldTests {
    private let world = SimulatedWorld(seed: 5)
    private let journal = Journal()

    /// A phone of a version whose installed program collects from a belt.
    private func phone(_ declaration: AppDeclaration, version: SystemVersion = .newest) -> (SimulatedDevice, Sensor) {
        var options = DeviceOptions()
        options.version = version
        let phone = world.addDevice(named: "Phone", options: options)
        let belt = world.addDevice(named: "Belt")
        let journal = journal
        phone.install("com.example.Heart.transport", declaring: declaration) { _, launch in
            journal.note(launch.line)
            return Collector(journal)
        }
        let sensor = belt.launch("sensor", declaring: AppDeclaration(backgroundModes: .peripheral)) { _ in
            Sensor(Journal(), identifier: nil)
        }
        world.run(for: .seconds(1))
        return (phone, sensor)
    }

    @Test("behaviours 9.20, 10.29: a transport extension collects in the background, and is launched again for a value")
    func aTransportExtension() throws {
        let kind = ProcessKind.appExtension(point: ProcessKind.transportExtensionPoint)
        let (phone, sensor) = phone(AppDeclaration(backgroundModes: .central, kind: kind))
        let process = try #require(phone.open("com.example.Heart.transport"))
        world.run(for: .seconds(20))
        #expect(process.phase == .suspended)
        #expect(journal.take().contains("notifying true"))
        sensor.measure(61)
        world.run(for: .seconds(1))
        #expect(process.phase == .background)
        #expect(journal.take() == ["value [0, 61]"])
        process.removeFromMemory()
        world.run(for: .seconds(60))
        sensor.measure(62)
        world.run(for: .seconds(5))
        let lines = journal.take()
        #expect(lines.first == "launched for [\"central collector\"]")
        #expect(lines.last == "value [0, 62]")
    }

    @Test("behaviour 9.20: an extension for widgets has no Bluetooth")
    func aWidget() {
        let kind = ProcessKind.appExtension(point: "com.apple.widgetkit-extension")
        let (phone, _) = phone(AppDeclaration(backgroundModes: .central, kind: kind))
        phone.open("com.example.Heart.transport")
        world.run(for: .seconds(20))
        #expect(journal.take() == ["launched by the person, with []", "state 2"])
    }

    @Test("behaviour 9.19: an iPad app on a Mac misses what it receives in the background on an iPad")
    func anIPadAppOnAMac() throws {
        let (phone, sensor) = phone(AppDeclaration(backgroundModes: .central, kind: .iOSAppOnMac))
        let process = try #require(phone.open("com.example.Heart.transport"))
        world.run(for: .seconds(5))
        #expect(journal.take().contains("notifying true"))
        process.leave()
        world.run(for: .seconds(40))
        sensor.measure(61)
        world.run(for: .seconds(5))
        #expect(process.phase == .suspended)
        #expect(journal.take().isEmpty)
        process.enter()
        world.run(for: .seconds(1))
        #expect(journal.take() == ["value [0, 61]"])
    }
}
