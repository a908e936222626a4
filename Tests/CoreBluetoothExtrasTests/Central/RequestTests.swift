import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite("Requests as async calls")
struct RequestTests {
    @Test("behaviour 15.22: a session from power-on to disconnection reads from top to bottom")
    func aSession() throws {
        let world = AsyncWorld()
        let said = try world.run { central in
            var said: [String] = []
            let peripheral = try await AsyncWorld.find(central)
            try await central.openConnection(to: peripheral, deadline: .seconds(10))
            let services = try await peripheral.discover(services: nil)
            said.append("\(services.map(\.uuid.uuidString))")
            let included = try await peripheral.discover(includedServices: nil, for: services[0])
            said.append("\(included.map(\.uuid.uuidString)) \(included.map(\.isPrimary))")
            let characteristics = try await peripheral.discover(characteristics: nil, for: services[0])
            said.append("\(characteristics.map(\.uuid.uuidString))")
            let descriptors = try await peripheral.discover(descriptorsFor: characteristics[0])
            let description = try #require(descriptors.first { $0.uuid.uuidString == "2901" })
            said.append(String(decoding: try await peripheral.read(description), as: UTF8.self))
            try await peripheral.write(Data([1, 2]), for: characteristics[0])
            said.append(String(decoding: try await peripheral.read(characteristics[0]), as: UTF8.self))
            let rssi = try await peripheral.readSignalStrength()
            said.append(rssi < 0 ? "weaker than a milliwatt" : "\(rssi)")
            await central.disconnect(peripheral)
            said.append("\(peripheral.state.rawValue) \(central.isScanning)")
            return said
        }
        #expect(
            said == [
                #"["FFE0"]"#, #"["FFEA"] [false]"#, #"["FFE1", "FFE2", "FFE3", "FFE4"]"#, "what it is", "R1",
                "weaker than a milliwatt",
                "0 false",
            ]
        )
        #expect(world.station.state.withLock { $0.written } == [Data([1, 2])])
    }

    @Test("behaviour 15.1: reads and notifications of one characteristic are kept apart")
    func readsAndNotifications() throws {
        let world = AsyncWorld()
        let (reads, notified) = try world.connected { _, peripheral, characteristic in
            let listening = world.task {
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

    @Test("behaviour 15.11: a request to a peer that never responds ends at its deadline")
    func aDeadline() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, _ in
            let silent = try await AsyncWorld.explore(peripheral, Station.silent)
            let begin = world.world.now
            await #expect(throws: ExtrasError.deadlinePassed) {
                try await peripheral.read(silent, deadline: .seconds(5))
            }
            #expect(world.world.now - begin == .seconds(5))
            // ATT times out after 30 s, which also ends all other pending requests.
            let error = await #expect(throws: CBError.self) { try await peripheral.read(silent) }
            #expect(error?.code == .connectionTimeout)
            #expect(world.world.now - begin < .seconds(32))
        }
    }

    @Test("behaviour 15.11: a cancelled task stops waiting, and its response is dropped")
    func cancelling() throws {
        let world = AsyncWorld()
        try world.connected { _, peripheral, characteristic in
            let reading = world.task { try await peripheral.read(characteristic) }
            try await world.sleep(.milliseconds(1))
            let begin = world.world.now
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(world.world.now == begin)
            let next = try await peripheral.read(characteristic)
            #expect(next.number("R") == 2)
            // A task that is cancelled before it starts sends no request.
            let never = world.task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await peripheral.read(characteristic)
            }
            await #expect(throws: CancellationError.self) { try await never.value }
            #expect(try await peripheral.read(characteristic).number("R") == 3)
        }
    }

    @Test("behaviour 15.12: invalid requests, and requests for invalidated attributes, throw at once")
    func misuse() throws {
        let world = AsyncWorld()
        try world.run { central in
            await #expect(throws: ExtrasError.notPoweredOn(.unknown)) {
                for try await _ in central.scan() {}
            }
            let peripheral = try await AsyncWorld.find(central)
            let early = await #expect(throws: CBError.self) { try await peripheral.readSignalStrength() }
            #expect(early?.code == .notConnected)
            try await central.openConnection(to: peripheral)
            let characteristic = try await AsyncWorld.explore(peripheral)
            await central.disconnect(peripheral)
            try await central.openConnection(to: peripheral)
            let begin = world.world.now
            let stale = await #expect(throws: CBError.self) { try await peripheral.read(characteristic) }
            #expect(stale?.code == .invalidHandle)
            #expect(world.world.now == begin)
            let stream = await #expect(throws: CBError.self) {
                for try await _ in peripheral.notifications(of: characteristic) {}
            }
            #expect(stream?.code == .invalidHandle)
            let other = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "other"))
            try await other.poweredOn()
            let stranger = await #expect(throws: CBError.self) { try await other.openConnection(to: peripheral) }
            #expect(stranger?.code == .unkownDevice)
        }
    }

    @Test(
        "behaviour 15.11: all pending calls end with the power, the controller, the manager or the other device",
        arguments: ["power", "controller", "manager", "station"]
    )
    func ends(_ end: String) throws {
        let world = AsyncWorld()
        let codes = try world.run { _ in
            let manager = Mutex<CBCentralManager?>(CBCentralManager(delegate: nil, queue: DispatchQueue(label: "ends")))
            let (waiting, begin) = try await Self.wait(in: world, manager.withLock { $0 })
            switch end {
            case "power": world.phone.setPower(false)
            case "controller": world.phone.setController(isPluggedIn: false)
            case "manager": manager.withLock { $0 = nil }
            default: world.leave()
            }
            var codes: [Int] = []
            for task in waiting {
                do {
                    try await task.value
                } catch let error as CBError {
                    codes.append(error.code.rawValue)
                }
            }
            #expect(world.world.now - begin < .seconds(10))
            return codes
        }
        let expected: CBError.Code = end == "station" ? .connectionTimeout : .notConnected
        #expect(codes == [Int](repeating: expected.rawValue, count: 4))
    }

    /// Starts requests that queue behind one without a response.
    private static func wait(
        in world: AsyncWorld,
        _ central: CBCentralManager?
    ) async throws -> ([Task<Void, any Error>], Duration) {
        let central = try #require(central)
        let peripheral = try await AsyncWorld.find(central)
        try await central.openConnection(to: peripheral)
        let silent = try await AsyncWorld.explore(peripheral, Station.silent)
        let value = try await AsyncWorld.explore(peripheral)
        let waiting = [
            world.task { _ = try await peripheral.read(silent) },
            world.task { _ = try await peripheral.discover(services: nil) },
            world.task { try await peripheral.write(Data([1]), for: value) },
            world.task { for try await _ in peripheral.notifications(of: value) {} },
        ]
        try await world.sleep(.seconds(1))
        return (waiting, world.world.now)
    }

    /// A read of one task in the random run.
    private struct Seen: Sendable {
        var order = 0
        var number: UInt32
    }

    @Test(
        "behaviour 15.1: with delegates, tasks, notifications, cancellations and lost links interleaved, each read gets its own response",
        arguments: 1...60
    )
    func interleavings(_ seed: UInt64) throws {
        let world = AsyncWorld(seed: seed, lossRate: seed.isMultiple(of: 3) ? 0.05 : 0)
        let ended = try world.run(for: .seconds(600)) { central in
            var dice = Seeded(state: seed)
            let peripheral = try await AsyncWorld.find(central)
            var ended = 0
            while ended < 3 * 60 {
                do {
                    try await central.openConnection(to: peripheral)
                    let characteristic = try await AsyncWorld.explore(peripheral)
                    ended += try await Self.scramble(world, central, peripheral, characteristic, &dice)
                } catch is CBError {
                    // With packet loss, the link may be lost before discovery finishes.
                }
            }
            return ended
        }
        #expect(ended == 3 * 60)
    }

    /// Makes many requests at once, sometimes loses the link meanwhile, and returns the number of calls that ended.
    private static func scramble(
        _ world: AsyncWorld,
        _ central: CBCentralManager,
        _ peripheral: CBPeripheral,
        _ characteristic: CBCharacteristic,
        _ dice: inout Seeded
    ) async throws -> Int {
        let (order, seen) = (CounterPeripheral(), Notes<Seen>())
        var tasks: [Task<Void, any Error>] = []
        for _ in 0..<60 {
            let (kind, pause) = (Int.random(in: 0..<12, using: &dice), Int.random(in: 0..<40, using: &dice))
            if kind == 0 {
                _ = order.next()
                peripheral.readValue(for: characteristic)
            }
            let task = world.task {
                switch kind {
                case 1:
                    for try await value in peripheral.notifications(of: characteristic) {
                        #expect(value.number("N") != nil)
                        break
                    }
                case 2: try await peripheral.write(Data([9]), for: characteristic)
                case 3: _ = try await peripheral.readSignalStrength()
                case 4: try await peripheral.writeWithoutResponse(Data([7]), for: characteristic)
                default:
                    // A cancelled task sends no request.
                    try Task.checkCancellation()
                    let mine = order.next()
                    let number = try #require(try await peripheral.read(characteristic).number("R"))
                    seen.add(Seen(order: mine, number: number))
                }
            }
            tasks.append(task)
            if kind == 11 { task.cancel() }
            if pause > 34 { tasks.randomElement(using: &dice)?.cancel() }
            if pause < 10 { try await world.sleep(.milliseconds(pause)) }
            if pause == 39, peripheral.state == .connected { central.cancelPeripheralConnection(peripheral) }
        }
        var ended = 0
        for task in tasks {
            _ = await task.result
            ended += 1
        }
        check(seen.all)
        await central.disconnect(peripheral)
        return ended
    }

    /// Checks that reads were answered in the order of the calls, by the number that the peripheral counts up.
    private static func check(_ seen: [Seen]) {
        guard let first = seen.first else { return }
        for read in seen { #expect(Int(read.number) - read.order == Int(first.number) - first.order) }
    }
}

/// Numbers generated from a seed.
struct Seeded: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 33
    }
}
