import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Demos
import Dispatch
import Foundation
import Synchronization
import TestBasics
import Testing

/// The demos have notes of their own.
private typealias PlaybackLines = TestBasics.Notes<String>

/// Devices of a world that are recorded, and played back without the rest of it.
@Suite struct PlaybackTests {
    /// The octets of a device's capture.
    private final class Tape: Sendable {
        private let content = Mutex<[UInt8]>([])

        var octets: [UInt8] { content.withLock { $0 } }

        func write(_ more: [UInt8]) { content.withLock { $0 += more } }
    }

    /// An app whose lines are noted with their times.
    private static func app(
        _ notes: PlaybackLines,
        _ world: SimulatedWorld,
        rates: Int = 4
    ) -> (SimulatedApp) -> HeartRateApp {
        { _ in
            HeartRateApp(
                queue: DispatchQueue(label: "app"),
                rates: rates,
                say: { notes.add("\(world.now) \($0)") },
                finish: { notes.add("finished: \($0)") }
            )
        }
    }

    private static func sensor(_ notes: PlaybackLines, _ world: SimulatedWorld) -> (SimulatedApp) -> HeartRateSensor {
        { app in
            let queue = DispatchQueue(label: "sensor")
            return HeartRateSensor(
                name: "Strap",
                queue: queue,
                metronome: { app.everyInterval(.seconds($0), on: queue, $1) },
                say: { notes.add("\(world.now) \($0)") }
            )
        }
    }

    /// A phone and a sensor that meet, pair and meet again, recorded at both ends.
    private struct Meeting {
        let phone = Tape()
        let strap = Tape()
        let said = PlaybackLines()
        let saidBySensor = PlaybackLines()

        init(seed: UInt64) {
            let world = SimulatedWorld(seed: seed)
            let (phone, strap) = (phone, strap)
            let follower = world.addDevice(named: "Phone", capture: { phone.write($0) })
            let sensor = world.addDevice(named: "Strap", options: .accessory, capture: { strap.write($0) })
            follower.person.behaves(.agrees(lookingAt: [sensor]), after: .seconds(1))
            sensor.person.behaves(.agrees(lookingAt: [follower]), after: .seconds(1))
            sensor.launch("sensor", PlaybackTests.sensor(saidBySensor, world))
            follower.launch("app", PlaybackTests.app(said, world))
            world.run(for: .seconds(40))
        }
    }

    @Test(
        "an app that was recorded and is played back sends the same, and has the same callbacks",
        arguments: [1, 2, 3]
    )
    func theSameAgain(seed: UInt64) throws {
        let meeting = Meeting(seed: seed)
        #expect(meeting.said.all.last == "finished: true")
        let world = SimulatedWorld(seed: seed)
        let said = PlaybackLines()
        let phone = world.addDevice(named: "Phone", playing: try CapturedController(octets: meeting.phone.octets))
        phone.person.behaves(.agrees(lookingAt: []), after: .seconds(1))
        phone.launch("app", Self.app(said, world))
        world.run(for: .seconds(40))
        #expect(said.all.map(Self.text) == meeting.said.all.map(Self.text))
        #expect(phone.departures.map(\.description) == [])
    }

    @Test(
        "a peripheral that was recorded and is played back sends the same, and has the same callbacks",
        arguments: [1, 2]
    )
    func theOtherEnd(seed: UInt64) throws {
        let meeting = Meeting(seed: seed)
        let world = SimulatedWorld(seed: seed)
        let said = PlaybackLines()
        let capture = try CapturedController(octets: meeting.strap.octets)
        let sensor = world.addDevice(named: "Strap", playing: capture, as: 2, options: .accessory)
        sensor.person.behaves(.agrees(lookingAt: []), after: .seconds(1))
        sensor.launch("sensor", Self.sensor(said, world))
        world.run(for: .seconds(40))
        #expect(said.all.map(Self.text) == meeting.saidBySensor.all.map(Self.text))
        #expect(sensor.departures.map(\.description) == [])
    }

    /// A line without the parts of a microsecond, which captures do not have.
    private static func text(_ line: String) -> String {
        line.split(separator: " ", maxSplits: 2).last.map(String.init) ?? line
    }

    @Test("an app that changed departs from its capture: more requests, and packets that are missing")
    func aChangedApp() throws {
        let meeting = Meeting(seed: 1)
        let world = SimulatedWorld(seed: 1)
        let said = PlaybackLines()
        let phone = world.addDevice(named: "Phone", playing: try CapturedController(octets: meeting.phone.octets))
        phone.person.behaves(.declines)
        phone.launch("app", Self.app(said, world))
        world.run(for: .seconds(60))
        let departures = phone.departures
        let missing = try #require(departures.first { $0.kind == .missing && $0.captured?.contains("SMP") == true })
        #expect(missing.sent != nil)
        let other = try #require(
            departures.first { $0.kind == .additional && $0.sent?.contains("Pairing Failed") == true }
        )
        #expect(other.captured?.contains("SMP Pairing") == true)
        #expect(other.capturedTime != nil)
    }

    @Test("with other random numbers an app finds and reads the device, and the pairing fails as departures explain")
    func otherRandomNumbers() throws {
        let meeting = Meeting(seed: 1)
        let world = SimulatedWorld(seed: 99)
        let said = PlaybackLines()
        let phone = world.addDevice(named: "Phone", playing: try CapturedController(octets: meeting.phone.octets))
        phone.person.behaves(.agrees(lookingAt: []), after: .seconds(1))
        phone.launch("app", Self.app(said, world))
        world.run(for: .seconds(60))
        #expect(said.all.contains { $0.contains("services of") })
        let pairing = phone.departures.filter { $0.sent?.contains("SMP Pairing Public Key") == true }
        #expect(pairing.map(\.isRandom) == [true])
        #expect(pairing.first?.captured?.contains("SMP Pairing Public Key") == true)
        #expect(pairing.first?.explanation.contains("random numbers") == true)
    }

    @Test("an app that the capture does not know is answered from what the capture tells of the peer's attributes")
    func anotherApp() throws {
        let meeting = Meeting(seed: 1)
        let world = SimulatedWorld(seed: 1)
        let notes = PlaybackLines()
        let phone = world.addDevice(named: "Phone", playing: try CapturedController(octets: meeting.phone.octets))
        let reader = phone.launch("other") { _ in LocationReader(notes) }
        world.run(for: .seconds(30))
        #expect(notes.all.first == "found")
        #expect(notes.all.last == "location of 1 octets")
        #expect(phone.departures.contains { $0.explanation.contains("the peer's attributes") || $0.kind == .missing })
        withExtendedLifetime(reader) {}
    }

    @Test("a capture that cannot be played back says why")
    func errors() throws {
        #expect(throws: CapturedControllerError.self) { try CapturedController(octets: [1, 2, 3, 4, 5]) }
        #expect(throws: CapturedControllerError.self) { try CapturedController(contentsOfFile: "/nowhere/at.all") }
        let meeting = Meeting(seed: 1)
        // The header alone, and a last record that is cut off.
        #expect(throws: CapturedControllerError.self) {
            try CapturedController(octets: meeting.phone.octets.prefix(16))
        }
        let whole = try CapturedController(octets: meeting.phone.octets)
        let cut = try CapturedController(octets: meeting.phone.octets.dropLast(3))
        #expect(cut.packets == whole.packets - 1)
    }
}

/// Reads the location of the first sensor it finds, and nothing else.
private final class LocationReader: CentralStandIn, @unchecked Sendable {
    private let notes: PlaybackLines

    init(_ notes: PlaybackLines) {
        self.notes = notes
        super.init(seeking: nil)
    }

    override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        notes.add("found")
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    override func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else {
            return notes.add("no service: \(String(describing: error))")
        }
        peripheral.discoverCharacteristics([CBUUID(string: "2A38")], for: service)
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        peripheral.readValue(for: characteristic)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add("location of \(characteristic.value?.count ?? 0) octets")
    }
}
