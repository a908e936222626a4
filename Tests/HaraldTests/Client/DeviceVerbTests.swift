import Accessories
import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import Foundation
import LinkLayer
import Synchronization
import TestBasics
import Testing

@testable import harald

/// `harald connect`, `read`, `write`, `follow` and `pair`, as apps of a service.
@Suite struct DeviceVerbTests {
    /// Runs a verb with the sensor `Pulse`, connected.
    private func run(
        _ world: VerbWorld,
        json: Bool = false,
        interruptedAfter interrupted: Duration? = nil,
        _ verb: @escaping @Sendable (DeviceClient, FoundDevice) async throws(ToolError) -> Void
    ) throws -> (result: Result<Void, ToolError>, lines: [String]) {
        let selector = try #require(DeviceSelector(argument: "pulse"))
        return try world.run(json: json, interruptedAfter: interrupted) { client async throws(ToolError) in
            let device = try await client.find(selector, seconds: 10)
            try await client.connect(device, limit: .seconds(10))
            try await verb(client, device)
        }
    }

    private func characteristic(_ text: String) throws -> CharacteristicSelector {
        try #require(CharacteristicSelector(argument: text))
    }

    private func failure(_ result: Result<Void, ToolError>) throws -> ToolError {
        guard case .failure(let error) = result else { throw ToolError.incomplete("it has succeeded") }
        return error
    }

    @Test(
        "a value is found by UUID, by the beginning of its name, and by its service",
        arguments: ["2A38", "body sensor", "180D/2a38", "heart rate/Body"]
    )
    func reading(text: String) throws {
        let world = VerbWorld(sensor: "Pulse")
        let selector = try characteristic(text)
        let run = try run(world) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            let value = try await client.read(target)
            client.report.say("\(value)")
        }
        try run.result.get()
        #expect(run.lines.contains("01"))
    }

    @Test("a characteristic that is missing, or a name that fits several, is an error that lists them")
    func missing() throws {
        let world = VerbWorld(sensor: "Pulse")
        for (text, told) in [
            (
                "2A19",
                "\"Pulse\" has no characteristic \"2A19\"; it has 2A37 Heart Rate Measurement, 2A38 Body Sensor Location"
            ),
            (
                "heart",
                "\"heart\" fits several characteristics: 2A37 Heart Rate Measurement, 2A39 Heart Rate Control Point"
            ),
        ] {
            let selector = try characteristic(text)
            let run = try run(world) { client, device async throws(ToolError) in
                _ = try await client.characteristic(selector, of: device)
            }
            let error = try failure(run.result)
            #expect(error.description.hasPrefix(told) && error.exitStatus == 1)
        }
    }

    @Test("values are written with and without response, and numbers of octets have their plural")
    func writing() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let selector = try characteristic("2A39")
        let run = try run(world) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            try await client.write([1], to: target, withResponse: true)
            try await client.write([2, 3], to: target, withResponse: false)
        }
        try run.result.get()
        #expect(run.lines.contains("wrote 1 octet to 2A39 Heart Rate Control Point"))
        #expect(run.lines.contains("wrote 2 octets to 2A39 Heart Rate Control Point"))
        #expect(sensor.state.withLock { $0.written } == [Data([1]), Data([2, 3])])
    }

    @Test("values are followed, as a document each")
    func following() throws {
        let world = VerbWorld(sensor: "Pulse")
        let selector = try characteristic("2A37")
        let run = try run(world, json: true) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            try await client.follow(target, count: 3) { "\($0)" }
        }
        try run.result.get()
        let values = run.lines.filter { $0.contains("\"event\":\"value\"") }
        #expect(
            values.count == 3 && values.allSatisfy { $0.contains("\"uuid\":\"2A37\"") && $0.contains("\"schema\":1") }
        )
    }

    @Test("a value that does not notify is an error that lists those that do")
    func notNotifying() throws {
        let world = VerbWorld(sensor: "Pulse")
        let selector = try characteristic("2A38")
        let run = try run(world) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            try await client.follow(target, count: nil) { "\($0)" }
        }
        let error = try failure(run.result)
        #expect(
            error.description
                == "2A38 Body Sensor Location does not notify; these do: 2A37 Heart Rate Measurement"
        )
    }

    @Test("what cannot be read or written says so before it is tried, with what can be")
    func unsuitable() throws {
        let cases = [
            (
                "2A37", true,
                """
                2A37 Heart Rate Measurement is not readable; it notifies: `harald follow`; these are readable: 2A38 Body Sensor \
                Location, FFE4
                """
            ),
            (
                "2A39", true,
                "2A39 Heart Rate Control Point is not readable; these are readable: 2A38 Body Sensor Location, FFE4"
            ),
            (
                "2A38", false,
                "2A38 Body Sensor Location is not writable; these are writable: 2A39 Heart Rate Control Point"
            ),
        ]
        for (text, reads, told) in cases {
            let world = VerbWorld(sensor: "Pulse")
            let selector = try characteristic(text)
            let run = try run(world) { client, device async throws(ToolError) in
                let target = try await client.characteristic(selector, of: device)
                reads ? try target.checkReadable() : try target.checkWritable(withResponse: true)
            }
            #expect(try failure(run.result).description == told)
        }
    }

    @Test("a value that is longer than any attribute is not sent")
    func tooLong() throws {
        let world = VerbWorld(sensor: "Pulse")
        let selector = try characteristic("2A39")
        let run = try run(world) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            try await client.write(PacketBuffer(Array(repeating: 0, count: 513)), to: target, withResponse: true)
        }
        #expect(try failure(run.result).description == "cannot write 513 octets: a value has at most 512")
    }

    @Test("explore follows a characteristic by its name, and only one that notifies")
    func exploring() throws {
        let pulse = try #require(DeviceSelector(argument: "pulse"))
        for (text, told) in [("heart rate/heart rate m", nil), ("body", "2A38 Body Sensor Location does not notify")] {
            let world = VerbWorld(sensor: "Pulse")
            let plan = Visit.Plan(follow: try characteristic(text), notifications: 2)
            let run = try world.run { client async throws(ToolError) in
                try await client.explore(pulse, plan, pairs: false, seconds: 10)
            }
            let following = run.lines.filter { $0.hasPrefix("following ") }
            guard let told else {
                try run.result.get()
                #expect(following == ["following 2A37 Heart Rate Measurement"])
                continue
            }
            #expect(try failure(run.result).description.hasPrefix(told) && following.isEmpty)
        }
    }

    @Test("a device that goes out of range is lost")
    func losing() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let selector = try characteristic("2A37")
        let run = try run(world) { client, device async throws(ToolError) in
            let target = try await client.characteristic(selector, of: device)
            sensor.device.move(to: Position(x: 1_000_000))
            try await client.follow(target, count: nil) { "\($0)" }
        }
        let error = try failure(run.result)
        #expect(error.exitStatus == 6 && error.code == "peerLost")
    }

    @Test("connect reports the link, connects again when it is lost, and leaves the device when interrupted")
    func staying() throws {
        let world = VerbWorld()
        let sensor = world.addSensor("Pulse")
        let run = try run(world, interruptedAfter: .seconds(60)) { client, device async throws(ToolError) in
            _ = client.central.callBack(after: .seconds(5)) { sensor.device.move(to: Position(x: 1_000_000)) }
            _ = client.central.callBack(after: .seconds(20)) { sensor.device.move(to: Position(x: 1)) }
            try await client.stay(device, seconds: nil)
        }
        #expect(try failure(run.result).exitStatus == 130)
        #expect(run.lines.contains { $0.hasPrefix("link: every ") && $0.hasSuffix(", not encrypted") })
        #expect(run.lines.contains { $0.hasPrefix("disconnected: ") && $0.hasSuffix("; connecting again") })
        #expect(run.lines.filter { $0 == "connected" }.count == 2)
        #expect(run.lines.last == "disconnected")
    }

    @Test("Bluetooth that is switched off is no loss of the device, and connect does not try again")
    func switchingOff() throws {
        let selector = try characteristic("2A37")
        for follows in [false, true] {
            let world = VerbWorld(sensor: "Pulse")
            let errors = Notes<ToolError>()
            let run = try run(world) { client, device async throws(ToolError) in
                _ = client.central.callBack(after: .seconds(5)) { world.machine.setPower(false) }
                do throws(ToolError) {
                    guard follows else { return try await client.stay(device, seconds: nil) }
                    let target = try await client.characteristic(selector, of: device)
                    try await client.follow(target, count: nil) { "\($0)" }
                } catch {
                    // The client would wait by the machine's clock for an error of the controller.
                    errors.add(client.explained(error))
                }
            }
            let error = try #require(errors.all.first)
            #expect(error.exitStatus == 4 && error.code == "bluetoothUnavailable", "\(error)")
            #expect(!run.lines.contains { $0.hasSuffix("connecting again") })
        }
    }

    @Test("a recording that is cut short is kept, and says how much there is")
    func recording() throws {
        for isLost in [true, false] {
            let world = VerbWorld()
            let sensor = world.addSensor("Pulse")
            let counts = Notes<Int>()
            let run = try run(world) { client, device async throws(ToolError) in
                if isLost {
                    _ = client.central.callBack(after: .seconds(5)) { sensor.device.move(to: Position(x: 1_000_000)) }
                }
                let (accessory, loss) = try await client.record(device, for: .seconds(30))
                counts.add(accessory.services.flatMap(\.characteristics).map(\.changes.count).reduce(0, +))
                if let loss { throw loss }
            }
            #expect(counts.all.allSatisfy { $0 > 10 } && counts.all.count == 1)
            guard isLost else {
                try run.result.get()
                continue
            }
            let error = try failure(run.result)
            #expect(error.exitStatus == 6 && error.description.contains("; only "), "\(error)")
            #expect(error.description.contains(" s of 30.0 s were recorded"))
        }
    }

    @Test("record pairs only when told, and marks the values that need it either way")
    func recordingSecrets() throws {
        for pairs in [false, true] {
            let world = VerbWorld()
            let sensor = world.addSensor("Pulse")
            world.machine.person.behaves(.agrees(lookingAt: [sensor.device]))
            sensor.device.person.behaves(.agrees(lookingAt: [world.machine]))
            let (recorded, alerts) = (Notes<Accessory>(), Notes<PairingAlert>())
            sensor.device.person.watchAlerts { alerts.add($0) }
            world.machine.person.watchAlerts { alerts.add($0) }
            let run = try run(world) { client, device async throws(ToolError) in
                recorded.add(try await client.record(device, for: .seconds(1), pairs: pairs).accessory)
            }
            try run.result.get()
            let characteristics = recorded.all.flatMap(\.services).flatMap(\.characteristics)
            let secret = try #require(characteristics.first { $0.uuid == 0xFFE4 })
            #expect(secret.reading == .encrypted)
            #expect(secret.value.octets() == (pairs ? Array("secret".utf8) : []))
            #expect(alerts.all.isEmpty != pairs)
        }
    }

    @Test("a service that waits for the user's permission is an error that names the agent")
    func waitingForPermission() throws {
        let world = VerbWorld()
        world.machine.person.permits { _ in .wait }
        world.machine.setPermission(.notDetermined, forApp: "harald 1")
        let error = try failure(try run(world) { _, _ in }.result)
        #expect(error.exitStatus == 1 && error.code == "unauthorized")
        #expect(error.description.hasSuffix("start `harald agent`, answer its prompt, and try again"), "\(error)")
    }

    @Test("connect ends by itself after the time that it was given")
    func stayingForATime() throws {
        let world = VerbWorld(sensor: "Pulse")
        let run = try run(world) { client, device async throws(ToolError) in
            try await client.stay(device, seconds: 5)
        }
        try run.result.get()
        #expect(run.lines.last == "disconnected")
    }

    @Test("pair uses a value that is for paired devices only, and reports a refusal")
    func pairing() throws {
        for agrees in [true, false] {
            let world = VerbWorld()
            let sensor = world.addSensor("Pulse")
            if agrees {
                world.machine.person.behaves(.agrees(lookingAt: [sensor.device]))
                sensor.device.person.behaves(.agrees(lookingAt: [world.machine]))
            }
            let run = try run(world) { client, device async throws(ToolError) in try await client.pair(device) }
            guard agrees else {
                let error = try failure(run.result)
                #expect(error.exitStatus == 7 && error.code == "notSecured", "\(error)")
                continue
            }
            try run.result.get()
            #expect(run.lines.contains("paired: authenticated, with a 16-octet key"), "\(run.lines)")
            let again = try self.run(world) { client, device async throws(ToolError) in try await client.pair(device) }
            try again.result.get()
            #expect(again.lines.contains("already paired: authenticated, with a 16-octet key"), "\(again.lines)")
        }
    }
}
