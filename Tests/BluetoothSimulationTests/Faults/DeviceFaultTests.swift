import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import EventLoops
import Synchronization
import Testing

@Suite struct DeviceFaultTests {
    private static let service = CBUUID(string: "180F")
    private static let level = CBUUID(string: "2A19")

    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A sensor with a value, and a phone that connects to it and reads the value every 10 s, at most 5 s each time.
    private struct Scene {
        let world = SimulatedWorld(seed: 3)
        let journal = Journal()
        let sensor: SimulatedDevice
        let phone: SimulatedDevice
        let app: SimulatedApp
        private let kept: [AnyObject]

        /// - Parameter isProtected: Whether only a paired phone can read the value. The users agree to pair.
        init(isProtected: Bool = false) {
            sensor = world.addDevice(named: "Sensor", options: .accessory)
            phone = world.addDevice(named: "Phone", at: Position(x: 1))
            sensor.person.behaves(.agrees(lookingAt: [phone]))
            phone.person.behaves(.agrees(lookingAt: [sensor]))
            let peripheral = sensor.launch("sensor") { app in
                let manager = CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "sensor"))
                app.task { try await DeviceFaultTests.publish(on: manager, isProtected) }
                return manager
            }
            let (world, journal) = (world, journal)
            let (launched, central) = phone.launch("phone") { app in
                let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "phone"))
                app.task { try await DeviceFaultTests.follow(on: manager, world, journal) }
                return (app, manager)
            }
            app = launched
            kept = [peripheral, central]
        }

        /// Lets time pass, and returns what the phone noted since the last call.
        func run(seconds: Int) -> [String] {
            let before = journal.all.count
            withExtendedLifetime(kept) { _ = world.run(for: .seconds(seconds)) }
            return Array(journal.all.dropFirst(before))
        }
    }

    private static func publish(on manager: CBPeripheralManager, _ isProtected: Bool) async throws {
        try await manager.poweredOn()
        let published = CBMutableService(type: service, primary: true)
        published.characteristics = [
            CBMutableCharacteristic(
                type: level,
                properties: .read,
                value: Data(repeating: 7, count: 15),
                permissions: isProtected ? .readEncryptionRequired : .readable
            )
        ]
        try await manager.publish(published)
        try await manager.advertise(AdvertisedContent(services: [service]))
    }

    private static func follow(on manager: CBCentralManager, _ world: SimulatedWorld, _ journal: Journal) async throws {
        try await manager.poweredOn()
        for try await found in manager.scan(services: [service]) {
            try await manager.openConnection(to: found.peripheral)
            let services = try await found.peripheral.discover(services: [service])
            let characteristics = try await found.peripheral.discover(characteristics: [level], for: services[0])
            while true {
                try await Task.sleep(for: .seconds(10), clock: world.clock)
                do {
                    let value = try await found.peripheral.read(characteristics[0], deadline: .seconds(5))
                    journal.note("\(value.count)")
                } catch {
                    journal.note("failed")
                    if found.peripheral.state != .connected { journal.note("disconnected") }
                }
            }
        }
    }

    @Test func aHealthyDeviceAnswers() {
        let read = Scene().run(seconds: 25)
        #expect(read == ["15", "15"])
    }

    @Test func anAnswerMayBeLate() {
        let scene = Scene()
        scene.sensor.answerFault = .late(.seconds(2))
        // Discovery takes several requests of 2 s each.
        let read = scene.run(seconds: 60)
        #expect(!read.isEmpty)
        #expect(Set(read) == ["15"])
        scene.sensor.answerFault = .late(.seconds(7))
        let late = scene.run(seconds: 40)
        #expect(late.contains("failed"))
    }

    @Test("behaviour 5.23: without an answer the link ends after 30 s")
    func anAnswerMayNeverCome() {
        let scene = Scene()
        #expect(scene.run(seconds: 15) == ["15"])
        scene.sensor.answerFault = .never
        let read = scene.run(seconds: 60)
        #expect(read.prefix(2) == ["failed", "failed"])
        #expect(read.contains("disconnected"))
    }

    @Test func anAnswerMayBeAnError() {
        let scene = Scene()
        #expect(scene.run(seconds: 15) == ["15"])
        scene.sensor.answerFault = .error(0x80)
        #expect(scene.run(seconds: 10) == ["failed"])
        scene.sensor.answerFault = nil
        #expect(scene.run(seconds: 10) == ["15"])
    }

    @Test(arguments: [AnswerFault.malformed, .cutShort, .tooLong])
    func anAnswerMayBeWrong(fault: AnswerFault) {
        let scene = Scene()
        #expect(scene.run(seconds: 15) == ["15"])
        scene.sensor.answerFault = fault
        let read = scene.run(seconds: 60)
        #expect(!read.contains("15"))
        #expect(fault == .cutShort ? Set(read) == ["14"] : read.contains("failed"))
    }

    @Test func aDeviceLeavesTheRangeAndComesBack() {
        let scene = Scene()
        #expect(scene.run(seconds: 15) == ["15"])
        scene.sensor.leaveRange()
        scene.sensor.leaveRange()
        #expect(scene.run(seconds: 20).contains("disconnected"))
        scene.sensor.returnToRange()
        let other = Journal()
        let again = scene.phone.launch("again") { app in
            let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "again"))
            app.task { [world = scene.world] in try await Self.follow(on: manager, world, other) }
            return manager
        }
        withExtendedLifetime(again) { _ = scene.run(seconds: 30) }
        #expect(other.all.contains("15"))
    }

    @Test func allPacketsMayBeLost() {
        let scene = Scene()
        #expect(scene.run(seconds: 15) == ["15"])
        scene.sensor.losePackets(1)
        #expect(scene.run(seconds: 20).contains("disconnected"))
    }

    @Test func packetsMayBeChangedOnTheAir() {
        let scene = Scene()
        let frames = Mutex(0)
        scene.world.changePackets { _ in frames.withLock { $0 += 1 } }
        _ = scene.run(seconds: 5)
        let count = frames.withLock { $0 }
        #expect(count > 0)
        scene.world.changePackets(nil)
        _ = scene.run(seconds: 5)
        #expect(frames.withLock { $0 } == count)
    }

    @Test func anAppMayBeSuspendedAtOnce() {
        let scene = Scene()
        _ = scene.run(seconds: 5)
        scene.app.beginBackgroundTask()
        scene.app.suspend()
        #expect(scene.app.phase == .suspended)
    }

    @Test func aFactoryResetErasesTheBondsOfTheDeviceAlone() {
        let scene = Scene(isProtected: true)
        #expect(scene.run(seconds: 15) == ["15"])
        #expect(scene.sensor.pairedPeers.count == 1)
        scene.sensor.resetToFactorySettings()
        #expect(scene.sensor.pairedPeers.isEmpty)
        #expect(scene.phone.pairedPeers.count == 1)
    }
}
