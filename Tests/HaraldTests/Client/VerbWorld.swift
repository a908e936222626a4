import Administration
import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Foundation
import LinkLayer
import Synchronization
import TestBasics
import Testing

@testable import harald

/// A simulated machine on which the tool runs as an app, and sensors near it, in virtual time.
final class VerbWorld: Sendable {
    let world: SimulatedWorld
    let machine: SimulatedDevice
    private let sensors = Mutex<[VerbSensor]>([])
    private let runs = Mutex(0)

    /// - Parameters:
    ///   - sensor: The name of a sensor to add.
    ///   - channelSounding: Whether the machine can measure distances.
    init(
        seed: UInt64 = 1,
        sensor: String? = nil,
        channelSounding: DeviceOptions.ChannelSounding = .unsupported
    ) {
        world = SimulatedWorld(seed: seed)
        machine = world.addDevice(named: "Machine", options: DeviceOptions(channelSounding: channelSounding))
        if let sensor { addSensor(sensor) }
    }

    /// Adds a sensor that advertises a name, and runs the world until it does.
    @discardableResult
    func addSensor(_ name: String) -> VerbSensor {
        let device = world.addDevice(named: name, at: Position(x: 1))
        let sensor = device.launch(name) { VerbSensor($0, name: name) }
        sensors.withLock { $0.append(sensor) }
        world.run(for: .seconds(1))
        return sensor
    }

    /// Runs a verb to its end, and returns what it has printed.
    ///
    /// - Parameters:
    ///   - limit: The time in which it has to end.
    ///   - interrupted: The time after which the user interrupts it.
    func run(
        json: Bool = false,
        for limit: Duration = .seconds(120),
        interruptedAfter interrupted: Duration? = nil,
        known: [DeviceStatus] = [],
        _ verb: @escaping DeviceClient.Verb
    ) throws -> (result: Result<Void, ToolError>, lines: [String]) {
        let lines = Notes<String>()
        let outcome = Mutex<Result<Void, ToolError>?>(nil)
        let (aborts, abort) = AsyncStream<ToolError>.makeStream()
        let report = ToolReport(json: json) { lines.add($0) }
        let number = runs.withLock { runs in
            runs += 1
            return runs
        }
        let declaration = AppDeclaration(usageDescription: "Uses devices.")
        _ = machine.launch("harald \(number)", declaring: declaration) { app in
            app.task {
                let facts = DeviceFacts(known: known)
                let result = await DeviceClient.perform(verb, facts: facts, report: report, aborts: aborts)
                outcome.withLock { $0 = result }
            }
        }
        if let interrupted {
            world.run(for: interrupted)
            abort.yield(.interrupted(2))
        }
        world.run(for: limit) { outcome.withLock { $0 != nil } }
        return (try #require(outcome.withLock { $0 }, "it has not come to an end"), lines.all)
    }
}

/// A heart-rate sensor that counts, with a value for paired devices only.
final class VerbSensor: PeripheralStandIn, @unchecked Sendable {
    // Safe: mutable state is in a mutex.
    static let service = CBUUID(string: "180D")
    static let measurement = CBUUID(string: "2A37")
    static let location = CBUUID(string: "2A38")
    static let control = CBUUID(string: "2A39")
    static let secret = CBUUID(string: "FFE4")

    struct State {
        var written: [Data] = []
        var subscribers = 0
        var beats: UInt8 = 0
    }

    let state = Mutex(State())
    let device: SimulatedDevice
    private let characteristic = CBMutableCharacteristic(VerbSensor.measurement, .notify)

    init(_ app: SimulatedApp, name: String) {
        device = app.device
        let queue = DispatchQueue(label: "sensor")
        let others = [
            CBMutableCharacteristic(Self.location, .read, value: Data([1])),
            CBMutableCharacteristic(Self.control, [.write, .writeWithoutResponse]),
            CBMutableCharacteristic(Self.secret, .read, isEncrypted: true),
        ]
        super.init(name, service: Self.service, [characteristic] + others, on: queue)
        app.everyInterval(.milliseconds(100), on: queue) { [weak self] in self?.beat() }
    }

    private func beat() {
        let beats: UInt8? = state.withLock {
            guard $0.subscribers > 0 else { return nil }
            $0.beats &+= 1
            return $0.beats
        }
        if let beats { send([0, beats], of: characteristic) }
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        state.withLock { $0.written += requests.compactMap(\.value) }
        peripheral.respond(to: requests[0], withResult: .success)
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data("secret".utf8)
        peripheral.respond(to: request, withResult: .success)
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        state.withLock { $0.subscribers += 1 }
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        state.withLock { $0.subscribers -= 1 }
    }
}
