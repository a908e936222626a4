import Accessories
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import EventLoops
@testable import GAP
@testable import LinkLayer

/// An app that connects to the first accessory, pairs by reading a protected value, and measures the distance.
private final class Ruler: CentralStandIn, @unchecked Sendable {
    private struct Heard {
        var distances: [Double] = []
        var errors: [CBError.Code?] = []
        var ends: [CBError.Code?] = []
    }

    private let queue = DispatchQueue(label: "ruler")
    private let heard = Mutex(Heard())
    private let pairs: Bool

    init(pairs: Bool = true) {
        self.pairs = pairs
        super.init(seeking: nil, on: queue)
    }

    var distances: [Double] { heard.withLock { $0.distances } }
    var errors: [CBError.Code?] { heard.withLock { $0.errors } }
    var ends: [CBError.Code?] { heard.withLock { $0.ends } }

    func start() { queue.sync { found?.startChannelSoundingSession(.init(role: .initiator)) } }
    func cancel() { queue.sync { found?.cancelChannelSoundingSession() } }
    func read() {
        queue.sync {
            for each in found?.services?.flatMap({ $0.characteristics ?? [] }) ?? []
            where each.uuid.uuidString == "2C14" {
                found?.readValue(for: each)
            }
        }
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        if pairs, characteristic.uuid == CBUUID(string: "2C14") { peripheral.readValue(for: characteristic) }
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {
        heard.withLock {
            if let results {
                $0.distances.append(results.distance)
            } else {
                $0.errors.append((error as? CBError)?.code)
            }
        }
    }

    override func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
        heard.withLock { $0.ends.append((error as? CBError)?.code) }
    }
}

/// A phone at the origin and an accessory at some distance.
private struct Room {
    let world: SimulatedWorld
    let thing: SimulatedAccessory
    let phone: SimulatedDevice
    let ruler: Ruler
    let distance: Double

    init(
        seed: UInt64 = 7,
        distance: Double = 4,
        walls: [Wall] = [],
        _ channelSounding: DeviceOptions.ChannelSounding = .supported,
        antennas: Int = 1,
        accessoryMeasures: Bool = true,
        pairs: Bool = true
    ) {
        self.distance = distance
        world = SimulatedWorld(seed: seed)
        world.changeAir { $0.walls = walls }
        var accessory = Accessory(name: "Tag")
        accessory.hasChannelSounding = accessoryMeasures
        thing = world.addAccessory(accessory, at: Position(x: distance))
        var options = DeviceOptions.phone
        (options.channelSounding, options.antennas) = (channelSounding, antennas)
        phone = world.addDevice(named: "Phone", options: options)
        phone.person.behaves(.agrees(lookingAt: [thing.device]))
        ruler = phone.launch("ruler") { _ in Ruler(pairs: pairs) }
        world.run(for: .seconds(5))
    }

    /// Measures for a time, and returns the last distance.
    func measure(for duration: Duration = .seconds(4)) -> Double? {
        ruler.start()
        world.run(for: duration)
        return ruler.distances.last
    }
}

@Suite struct ChannelSoundingTests {
    @Test("behaviour 17.1: a system whose controller supports Channel Sounding has the feature")
    func theFeatureIsReported() {
        let options: [DeviceOptions.ChannelSounding: Bool] = [
            .supported: true, .unsupported: false, .notAllowed: false,
        ]
        for (option, isThere) in options {
            let world = SimulatedWorld(seed: 1)
            var kind = DeviceOptions.phone
            kind.channelSounding = option
            let phone = world.addDevice(named: "Phone", options: kind)
            world.run(for: .seconds(1))
            let supports = phone.launch("app") { _ in CBCentralManager.supports(.channelSounding) }
            #expect(supports == isThere, "\(option)")
        }
    }

    @Test("the antennas of a phone measure together", arguments: 1...4)
    func antennasMeasureTogether(antennas: Int) throws {
        let room = Room(distance: 6, antennas: antennas)
        let last = try #require(room.measure())
        // All stand nearer than the first one, by 7.5 cm on average.
        #expect(abs(last - 6) < 0.15)
    }

    @Test("behaviour 17.3: a session reports distances until it is cancelled")
    func distancesArriveUntilTheSessionIsCancelled() throws {
        let room = Room(distance: 4)
        let last = try #require(room.measure())
        #expect(abs(last - 4) < 0.3)
        #expect(room.ruler.distances.count >= 4)
        #expect(room.ruler.errors.isEmpty)
        room.ruler.cancel()
        room.world.run(for: .seconds(1))
        #expect(room.ruler.ends == [nil])
        let count = room.ruler.distances.count
        room.world.run(for: .seconds(3))
        #expect(room.ruler.distances.count == count)
        // A session can be started again.
        #expect(room.measure().map { abs($0 - 4) < 0.3 } == true)
        #expect(room.ruler.distances.count > count)
    }

    @Test("behaviour 17.3: the distance follows an accessory that moves")
    func theDistanceFollowsTheAccessory() throws {
        let room = Room(distance: 4)
        _ = room.measure()
        room.thing.device.move(to: Position(x: 12))
        room.world.run(for: .seconds(8))
        #expect(abs(try #require(room.ruler.distances.last) - 12) < 0.3)
    }

    @Test("behaviour 17.2: a device that is not paired is refused")
    func anUnpairedDeviceIsRefused() {
        let room = Room(pairs: false)
        #expect(room.measure() == nil)
        #expect(room.ruler.ends == [.channelSoundingConfigurationFailed])
    }

    @Test(
        "behaviour 17.2: without a controller that supports it, and in some regions, a session is refused",
        arguments: [DeviceOptions.ChannelSounding.unsupported, .notAllowed]
    )
    func unsupportedChipsAndRegionsAreRefused(option: DeviceOptions.ChannelSounding) {
        let room = Room(option)
        #expect(room.measure() == nil)
        #expect(room.ruler.ends == [.operationNotSupported])
    }

    @Test("behaviour 17.2: an app in the background is refused")
    func anAppInTheBackgroundIsRefused() {
        let room = Room()
        _ = room.phone.app("ruler")?.leave()
        room.world.run(for: .milliseconds(500))
        #expect(room.measure() == nil)
        #expect(room.ruler.ends == [.channelSoundingConfigurationFailed])
    }

    @Test("behaviour 17.6: in the background a session pauses, and in the foreground it continues")
    func theSessionPausesInTheBackground() {
        let room = Room()
        _ = room.measure()
        _ = room.phone.app("ruler")?.leave()
        room.world.run(for: .seconds(1))
        let count = room.ruler.distances.count
        room.world.run(for: .seconds(4))
        #expect(room.ruler.distances.count == count)
        _ = room.phone.app("ruler")?.enter()
        room.world.run(for: .seconds(4))
        #expect(room.ruler.distances.count > count)
        #expect(room.ruler.ends.isEmpty)
    }

    @Test("behaviour 17.2: one session at a time")
    func oneSessionAtATime() {
        let room = Room()
        _ = room.measure()
        room.ruler.start()
        room.world.run(for: .seconds(2))
        #expect(room.ruler.ends == [.channelSoundingConfigurationFailed])
        #expect(!room.ruler.distances.isEmpty)
    }

    @Test("behaviour 17.4: beside traffic the distances come more slowly")
    func trafficSlowsTheSessionDown() {
        let idle = Room()
        _ = idle.measure(for: .seconds(20))
        let busy = Room()
        busy.ruler.start()
        for _ in 0..<400 {
            busy.ruler.read()
            busy.world.run(for: .milliseconds(50))
        }
        #expect(busy.ruler.distances.count >= 5)
        #expect(Double(busy.ruler.distances.count) < 0.8 * Double(idle.ruler.distances.count))
    }

    @Test("behaviour 17.5: an accessory out of range has no distance")
    func outOfRangeThereIsNoDistance() {
        let room = Room()
        _ = room.measure()
        let count = room.ruler.distances.count
        room.thing.device.leaveRange()
        room.world.run(for: .seconds(2))
        #expect(room.ruler.distances.count <= count + 1)
    }

    // The properties that BlueZ's server declares, too (unit/test-rap.c).
    @Test("RAS/SR/SGGIT/SER/BV-01, RAS/SR/SGGIT/CHA/BV-01, RAS/SR/RCO/BV-01: the Ranging Service is found and read")
    func theRangingServiceIsFoundAndRead() throws {
        let room = Room()
        let service = try #require(room.ruler.found?.services?.first { $0.uuid == CBUUID(string: "185B") })
        let characteristics = service.characteristics ?? []
        #expect(characteristics.map(\.uuid.uuidString) == ["2C14", "2C15", "2C16", "2C17", "2C18", "2C19"])
        #expect(characteristics.map { $0.properties.rawValue & 0xFF } == [0x02, 0x30, 0x30, 0x24, 0x32, 0x32])
        #expect(characteristics.first?.value == Data([1, 0, 0, 0]))
    }

    @Test("RAP/REQ/CGGIT/SER/BV-01: a session finds the Ranging Service without the app")
    func aSessionFindsTheServiceByItself() {
        let room = Room()
        #expect(room.measure() != nil)
    }

    @Test func anAccessoryWithoutTheServiceIsRefused() {
        let room = Room(accessoryMeasures: false, pairs: false)
        #expect(room.measure() == nil)
        #expect(room.ruler.ends.count == 1)
    }

    @Test func oneSeedGivesTheSameDistances() {
        func distances(_ seed: UInt64) -> [Double] {
            let room = Room(seed: seed)
            _ = room.measure()
            return room.ruler.distances
        }
        let first = distances(3)
        #expect(!first.isEmpty)
        #expect(distances(3) == first)
    }
}

/// Random rooms, without walls and with them. `HARALD_ROOMS=1000` measures as many as Documentation/Testing.md shows.
@Suite struct RandomRoomTests {
    private static let count = ProcessInfo.processInfo.environment["HARALD_ROOMS"].flatMap(Int.init) ?? 12

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .infinity : values.sorted()[values.count / 2]
    }

    /// Returns what two ideal receivers find in a room, without noise: all that remains are the model's reflections.
    private func idealDistance(_ walls: [Wall], over distance: Double) -> Double {
        var configuration = Radio.Configuration()
        configuration.walls = walls
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1), configuration: configuration)
        let paths = radio.soundingPaths(from: Position(), to: Position(x: distance))
        let times = [Double](repeating: paths.delay * SoundingPaths.speedOfLight, count: 16)
        let products = SoundingState.usableChannels.map { channel -> DistanceEstimator.Product in
            let (i, q) = paths.response(channel)
            return (channel, i * i - q * q, 2 * i * q)
        }
        return (try? DistanceEstimator.distance(times: times, [products])) ?? .infinity
    }

    @Test func withoutWallsTheMedianErrorIsBelow30Centimetres() {
        var random = RoomRandom(seed: 42)
        var errors: [Double] = []
        for number in 0..<Self.count {
            let distance = 0.5 + 29.5 * random.unit()
            let room = Room(seed: UInt64(number + 1), distance: distance)
            errors.append(room.measure().map { abs($0 - distance) } ?? .infinity)
        }
        let median = Self.median(errors)
        print("\(Self.count) rooms without walls: median error \(median) m, worst \(errors.max() ?? 0) m")
        #expect(median < 0.3)
    }

    @Test func withWallsTheErrorIsThatOfTheModel() {
        var random = RoomRandom(seed: 43)
        var (errors, deviations): ([Double], [Double]) = ([], [])
        for number in 0..<Self.count {
            let distance = 0.5 + 29.5 * random.unit()
            // The walls of a room around both, of brick, and one between them in every third room.
            let (near, far) = (1 + 4 * random.unit(), 1 + 4 * random.unit())
            let (left, right) = (-1 - 3 * random.unit(), distance + 1 + 3 * random.unit())
            var walls = [
                Wall(from: Position(x: left, y: near), to: Position(x: right, y: near)),
                Wall(from: Position(x: left, y: -far), to: Position(x: right, y: -far)),
                Wall(from: Position(x: left, y: -far), to: Position(x: left, y: near)),
                Wall(from: Position(x: right, y: -far), to: Position(x: right, y: near)),
            ]
            if number.isMultiple(of: 3) {
                walls.append(Wall(from: Position(x: distance / 2, y: -far), to: Position(x: distance / 2, y: near)))
            }
            let room = Room(seed: UInt64(number + 1), distance: distance, walls: walls)
            let measured = room.measure() ?? .infinity
            errors.append(abs(measured - distance))
            deviations.append(abs(measured - idealDistance(walls, over: distance)))
        }
        let (error, deviation) = (Self.median(errors), Self.median(deviations))
        print("\(Self.count) rooms with walls: median error \(error) m, from the model's prediction \(deviation) m")
        #expect(deviation < 0.3)
    }
}

/// A generator with a seed, for the rooms.
private struct RoomRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func unit() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) * 0x1p-53
    }
}
