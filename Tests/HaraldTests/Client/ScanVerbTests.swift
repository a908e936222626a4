import BluetoothSimulation
import BluetoothTypes
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import harald

/// `harald scan` and `harald explore` as apps of a service.
@Suite struct ScanVerbTests {
    private func selector(_ text: String) throws -> DeviceSelector { try #require(DeviceSelector(argument: text)) }

    @Test("a scan prints each advertisement once, in words, until the device that it looks for")
    func scanning() throws {
        let world = VerbWorld(sensor: "Scale")
        let until = try selector("pul")
        let first = try world.run { client async throws(ToolError) in try await client.scan(ScanPlan(seconds: 3)) }
        #expect(throws: Never.self) { try first.result.get() }
        #expect(first.lines.count == 2 && first.lines.first == "scanning", "\(first.lines)")
        #expect(first.lines.last?.hasSuffix(" dBm, connectable, \"Scale\", service 180D Heart Rate") == true)
        world.addSensor("Pulse")
        let second = try world.run(json: true) { client async throws(ToolError) in
            try await client.scan(ScanPlan(seconds: 60, until: until))
        }
        #expect(throws: Never.self) { try second.result.get() }
        #expect(second.lines.allSatisfy { $0.hasPrefix("{") && $0.contains("\"schema\":1") })
        #expect(second.lines.last?.contains("\"name\":\"Pulse\"") == true)
        #expect(world.world.now < .seconds(20))
    }

    @Test("a scan without the device that it looks for lists those that it has heard")
    func missing() throws {
        let world = VerbWorld(sensor: "Scale")
        let until = try selector("Pulse")
        let run = try world.run { client async throws(ToolError) in
            try await client.scan(ScanPlan(seconds: 3, until: until, services: [0x180D]))
        }
        guard case .failure(let error) = run.result else { return recordIssue("it has found it") }
        #expect(error.exitStatus == 5 && error.code == "deviceNotFound")
        #expect(error.description.contains("1 other device was heard: \"Scale\""))
    }

    @Test("an exploration prints the table and follows a value, and disconnects")
    func exploring() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let device = try selector("pulse")
        let run = try world.run { client async throws(ToolError) in
            try await client.explore(device, Visit.Plan(notifications: 2), pairs: false, seconds: 10)
        }
        #expect(throws: Never.self) { try run.result.get() }
        #expect(run.lines.contains { $0.hasSuffix("  service 180D Heart Rate") })
        #expect(run.lines.contains { $0.contains("characteristic 2A38 Body Sensor Location [read] = chest") })
        #expect(run.lines.contains { $0.contains("characteristic FFE4 [read] (not readable: ") })
        #expect(
            run.lines.filter { $0.hasPrefix("value of 2A37 Heart Rate Measurement: ") && $0.hasSuffix(" bpm") }.count
                == 2
        )
        #expect(run.lines.last == "disconnected")
        world.world.run(for: .seconds(1))
        #expect(sensor.state.withLock { $0.subscribers } == 0)
    }

    @Test("names that begin alike are an error that lists them, after a second")
    func ambiguity() throws {
        let world = VerbWorld(sensor: "Pulse one")
        world.addSensor("Pulse two")
        let device = try selector("PULSE")
        let run = try world.run { client async throws(ToolError) in
            try await client.explore(device, Visit.Plan(), pairs: false, seconds: 10)
        }
        guard case .failure(let error) = run.result else { return recordIssue("it has chosen one") }
        #expect(error.exitStatus == 5 && error.code == "deviceAmbiguous")
        #expect(error.description.contains("\"Pulse one\" (") && error.description.contains("\"Pulse two\" ("))
    }

    @Test("an interrupted exploration leaves the device, and ends as shells report a signal")
    func interruption() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let device = try selector("Pulse")
        let run = try world.run(interruptedAfter: .seconds(10)) { client async throws(ToolError) in
            try await client.explore(device, Visit.Plan(notifications: 100_000), pairs: false, seconds: 10)
        }
        guard case .failure(let error) = run.result else { return recordIssue("it has ended by itself") }
        #expect(error.exitStatus == 130 && error.isQuiet)
        #expect(run.lines.last == "disconnected")
        world.world.run(for: .seconds(1))
        #expect(sensor.state.withLock { $0.subscribers } == 0)
    }
}
