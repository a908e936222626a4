import Accessories
import ArgumentParser
import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import TestBasics
import Testing

@testable import harald

/// `harald distance`, as an app of a service.
@Suite struct DistanceVerbTests {
    /// A machine, and a tag 4 m away.
    private struct Room {
        let world: VerbWorld
        let tag: SimulatedAccessory

        init(
            _ channelSounding: DeviceOptions.ChannelSounding = .supported,
            tag accessory: Accessory = ReadyMadeAccessory.tag.accessory,
            pairs: Bool = true
        ) {
            world = VerbWorld(channelSounding: channelSounding)
            tag = world.world.addAccessory(accessory, at: Position(x: 4))
            if pairs { world.machine.person.behaves(.agrees(lookingAt: [tag.device])) }
            world.world.run(for: .seconds(1))
        }

        /// Runs a verb with the tag, connected.
        func run(
            json: Bool = false,
            _ verb: @escaping @Sendable (DeviceClient, FoundDevice) async throws(ToolError) -> Void
        ) throws -> (error: ToolError?, lines: [String]) {
            let selector = try #require(DeviceSelector(argument: "Tag"))
            let run = try world.run(json: json) { client async throws(ToolError) in
                let device = try await client.find(selector, seconds: 10)
                try await client.connect(device, limit: .seconds(10))
                try await verb(client, device)
            }
            return if case .failure(let error) = run.result { (error, run.lines) } else { (nil, run.lines) }
        }

        func measure(json: Bool = false, count: Int? = 3, seconds: Double? = nil) throws -> (
            error: ToolError?, lines: [String]
        ) {
            try run(json: json) { client, device async throws(ToolError) in
                try await client.measureDistance(to: device, count: count, seconds: seconds)
            }
        }
    }

    /// The distances in lines such as `3.99 m`.
    private func distances(_ lines: [String]) -> [Double] {
        lines.filter { $0.hasSuffix(" m") }.compactMap { Double($0.dropLast(2)) }
    }

    @Test("behaviours 17.2, 17.3: distance pairs, and prints as many distances as it was asked for")
    func distancesArePrinted() throws {
        let room = Room()
        let (error, lines) = try room.measure(count: 3)
        #expect(error == nil)
        #expect(distances(lines).count == 3)
        #expect(distances(lines).allSatisfy { abs($0 - 4) < 0.3 })
        #expect(room.world.machine.pairedPeers.map(\.name) == ["Tag"])
        let documents = try room.measure(json: true, count: 2).lines.filter { $0.contains("\"event\":\"distance\"") }
        #expect(documents.count == 2)
        #expect(documents.allSatisfy { $0.contains("\"metres\":") && !$0.contains("error") })
    }

    @Test("distance ends after the time that it was given")
    func itEndsAfterATime() throws {
        let (error, lines) = try Room().measure(count: nil, seconds: 4)
        #expect(error == nil)
        #expect((4...20).contains(distances(lines).count), "\(lines)")
        #expect(lines.last == "disconnected")
    }

    @Test("behaviours 17.2, 17.3: a stream of distances ends its session, and there is one at a time")
    func sessionsEndWithTheirStreams() throws {
        let errors = Notes<String>()
        let (error, lines) = try Room().run { client, device async throws(ToolError) in
            try await client.measureDistance(to: device, count: 1, seconds: nil)
            try await client.attempt("measuring", device) {
                for try await _ in device.peripheral.distances() {
                    do {
                        for try await _ in device.peripheral.distances() { break }
                    } catch {
                        errors.add("\((error as? CBError)?.code == .channelSoundingConfigurationFailed)")
                    }
                    break
                }
            }
            try await client.measureDistance(to: device, count: 1, seconds: nil)
        }
        #expect(error == nil)
        #expect(errors.all == ["true"])
        #expect(distances(lines).count == 2)
    }

    @Test(
        "behaviour 17.2: without Channel Sounding, distance says why, and does not pair",
        arguments: [
            (DeviceOptions.ChannelSounding.unsupported, "the controller does not support distance measurement"),
            (.notAllowed, "distance measurement is not allowed in this region"),
        ]
    )
    func machinesWithoutChannelSounding(option: DeviceOptions.ChannelSounding, reason: String) throws {
        let room = Room(option)
        let (error, _) = try room.measure()
        #expect(error?.description == "measuring the distance failed: \(reason)")
        #expect(error?.exitStatus == 1)
        #expect(room.world.machine.pairedPeers.isEmpty)
    }

    @Test func aDeviceThatIsNotPairedIsNotMeasured() throws {
        let (error, lines) = try Room(pairs: false).measure()
        #expect(error?.code == "notSecured")
        #expect(distances(lines).isEmpty)
    }

    @Test func aDeviceWithoutTheRangingServiceIsNotMeasured() throws {
        let room = Room(tag: Accessory(name: "Tag"))
        let (error, _) = try room.measure()
        #expect(error?.description == "\"Tag\" has no Ranging Service (185B), so its distance cannot be measured")
        #expect(room.world.machine.pairedPeers.isEmpty)
    }

    @Test func aDeviceThatGoesOutOfRangeIsLost() throws {
        let room = Room()
        let tag = room.tag.device
        let (error, lines) = try room.run { client, device async throws(ToolError) in
            _ = client.central.callBack(after: .seconds(5)) { tag.leaveRange() }
            try await client.measureDistance(to: device, count: nil, seconds: nil)
        }
        #expect(error?.code == "peerLost", "\(String(describing: error))")
        #expect(!distances(lines).isEmpty)
    }

    @Test func numbersOfDistancesAndSecondsAreChecked() {
        for wrong in [["--count", "0"], ["--seconds", "-1"], ["--seconds", "x"]] {
            #expect(throws: (any Error).self) { try DistanceCommand.parseAsRoot(["Tag"] + wrong) }
        }
    }
}
