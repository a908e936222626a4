import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothExtras

@Suite("Requests that are waited for")
struct RequestTests {
    @Test("behaviour 15.22: a session from power-on to disconnection reads from top to bottom")
    func aSession() throws {
        let world = AsyncWorld()
        let said = try world.run { central in
            var said: [String] = []
            let peripheral = try await AsyncWorld.find(central)
            try await central.connect(peripheral, deadline: .seconds(10))
            let services = try await peripheral.discoverServices(nil)
            said.append("\(services.map(\.uuid.uuidString))")
            let characteristics = try await peripheral.discoverCharacteristics(nil, for: services[0])
            said.append("\(characteristics.map(\.uuid.uuidString))")
            let descriptors = try await peripheral.discoverDescriptors(for: characteristics[0])
            let description = try #require(descriptors.first { $0.uuid.uuidString == "2901" })
            said.append(String(decoding: try await peripheral.read(description), as: UTF8.self))
            try await peripheral.write(Data([1, 2]), for: characteristics[0])
            said.append(String(decoding: try await peripheral.read(characteristics[0]), as: UTF8.self))
            let rssi = try await peripheral.readRSSI()
            said.append(rssi < 0 ? "weaker than a milliwatt" : "\(rssi)")
            await central.disconnect(peripheral)
            said.append("\(peripheral.state.rawValue) \(central.isScanning)")
            return said
        }
        #expect(
            said == [
                #"["FFE0"]"#, #"["FFE1", "FFE2", "FFE3"]"#, "what it is", "R1", "weaker than a milliwatt", "0 false",
            ]
        )
        #expect(world.station.state.withLock { $0.written } == [Data([1, 2])])
    }

    @Test("behaviour 15.1: reads and notifications of one characteristic do not get mixed up")
    func readsAndNotifications() throws {
        let world = AsyncWorld()
        let (reads, notified) = try world.connected { _, peripheral, characteristic in
            let listening = Task {
                var seen: [UInt32?] = []
                for try await value in peripheral.notifications(of: characteristic) {
                    seen.append(value.number("N"))
                    if seen.count == 40 { break }
                }
                return seen
            }
            var reads: [UInt32?] = []
            for _ in 0..<30 { reads.append(try await peripheral.read(characteristic).number("R")) }
            return (reads, try await listening.value)
        }
        #expect(reads == (1...30).map { $0 })
        let first = try #require(notified.first ?? nil)
        #expect(notified == (first..<first + 40).map { $0 })
    }

    @Test("behaviour 15.11: a request to a peer that never answers ends with the deadline, and the next one is not mistaken for it")
    func aDeadline() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, _ in
            let silent = try await AsyncWorld.explore(peripheral, Station.silent)
            let begin = world.world.now
            await #expect(throws: ExtrasError.deadlinePassed) {
                try await peripheral.read(silent, deadline: .seconds(5))
            }
            #expect(world.world.now - begin == .seconds(5))
            // The attribute protocol ends after 30 s, and with it everything else that waits.
            let error = await #expect(throws: CBError.self) { try await peripheral.read(silent) }
            #expect(error?.code == .connectionTimeout)
            #expect(world.world.now - begin < .seconds(32))
        }
    }

    @Test("behaviour 15.11: a task that is cancelled waits no longer, and its answer goes to nobody")
    func cancelling() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let reading = Task { try await peripheral.read(characteristic) }
            await Task.yield()
            let begin = world.world.now
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(world.world.now == begin)
            let next = try await peripheral.read(characteristic)
            #expect(next.number("R") == 2)
            // One that is cancelled before it begins asks nothing.
            let never = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await peripheral.read(characteristic)
            }
            await #expect(throws: CancellationError.self) { try await never.value }
            #expect(try await peripheral.read(characteristic).number("R") == 3)
        }
    }

    @Test("behaviour 15.12: what is asked of a peripheral that is not connected, or of an attribute that is gone, throws at once")
    func misuse() throws {
        let world = AsyncWorld()
        try world.run { central in
            await #expect(throws: ExtrasError.notPoweredOn(.unknown)) {
                for try await _ in central.scan() {}
            }
            let peripheral = try await AsyncWorld.find(central)
            let early = await #expect(throws: CBError.self) { try await peripheral.readRSSI() }
            #expect(early?.code == .notConnected)
            try await central.connect(peripheral)
            let characteristic = try await AsyncWorld.explore(peripheral)
            await central.disconnect(peripheral)
            try await central.connect(peripheral)
            let begin = world.world.now
            let stale = await #expect(throws: CBError.self) { try await peripheral.read(characteristic) }
            #expect(stale?.code == .invalidHandle && world.world.now == begin)
            let stream = await #expect(throws: CBError.self) {
                for try await _ in peripheral.notifications(of: characteristic) {}
            }
            #expect(stream?.code == .invalidHandle)
            let other = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            try await other.poweredOn()
            let stranger = await #expect(throws: CBError.self) { try await other.connect(peripheral) }
            #expect(stranger?.code == .unkownDevice)
        }
    }

    @Test("behaviour 15.11: all that waits ends when the power goes, or the manager, or the other device")
    func ends() throws {
        for end in ["power", "controller", "manager", "station"] {
            let world = AsyncWorld()
            let codes = try world.run { central in
                var manager: CBCentralManager? = central
                let peripheral = try await AsyncWorld.find(central)
                try await central.connect(peripheral)
                let silent = try await AsyncWorld.explore(peripheral, Station.silent)
                let waiting = [
                    Task { _ = try await peripheral.read(silent) },
                    Task { _ = try await peripheral.discoverServices(nil) },
                    Task { try await peripheral.write(Data([1]), for: silent) },
                    Task { for try await _ in peripheral.notifications(of: silent) {} },
                    Task { _ = try await peripheral.openChannel(0x81) },
                ]
                try await Task.sleep(for: .seconds(1), clock: world.world.clock)
                switch end {
                case "power": world.phone.setPower(false)
                case "controller": world.phone.setController(isPluggedIn: false)
                case "manager": manager = nil
                default: world.device.setController(isPluggedIn: false)
                }
                _ = manager
                if end == "manager" { return [-1] }
                var codes: [Int] = []
                for task in waiting {
                    do {
                        try await task.value
                        codes.append(0)
                    } catch let error as CBError {
                        codes.append(error.code.rawValue)
                    } catch let error as CBATTError {
                        codes.append(1_000 + error.code.rawValue)
                    }
                }
                return codes
            }
            print(end, codes)
        }
    }
}
