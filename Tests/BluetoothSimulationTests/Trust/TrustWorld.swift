import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import Security
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// A phone and a sensor with a person each, in virtual time. An app on the sensor publishes protected values.
final class TrustWorld {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let sensor: SimulatedDevice
    let sensorApp: TrustPeripheral

    init(
        seed: UInt64 = 1,
        loop: VirtualEventLoop = VirtualEventLoop(),
        phone phoneOptions: DeviceOptions = DeviceOptions(),
        sensor sensorOptions: DeviceOptions = DeviceOptions(),
        people: People = .agree,
        phoneBonds: LoopBound<any BondStorage>? = nil,
        phoneCapture: Locked<[UInt8]>? = nil,
        configure: @escaping @Sendable (inout SystemConfiguration, _ isPhone: Bool) -> Void = { _, _ in }
    ) {
        world = SimulatedWorld(seed: seed, loop: loop)
        var capture: (@Sendable ([UInt8]) -> Void)?
        if let phoneCapture { capture = { octets in phoneCapture.change { $0 += octets } } }
        phone = world.addDevice(named: "Phone", options: phoneOptions, bonds: phoneBonds, capture: capture) {
            configure(&$0, true)
        }
        sensor = world.addDevice(named: "Sensor", at: Position(x: 1), options: sensorOptions) { configure(&$0, false) }
        sensorApp = sensor.launch("sensor") { _ in TrustPeripheral() }
        world.run(for: .milliseconds(200))
        seat(people)
    }

    /// The reactions of the two persons.
    enum People {
        case agree
        case decline
        case ignore
    }

    func seat(_ people: People) {
        let habits: [SimulatedPerson.Habit] =
            switch people {
            case .agree: [.agrees(lookingAt: [sensor]), .agrees(lookingAt: [phone])]
            case .decline: [.declines, .declines]
            case .ignore: [.ignores, .ignores]
            }
        phone.person.behaves(habits[0], after: .seconds(1))
        sensor.person.behaves(habits[1], after: .seconds(1))
    }

    /// Launches a new app on the phone.
    func app(on device: SimulatedDevice? = nil) throws -> TrustCentral {
        let app = (device ?? phone).launch("phone") { _ in TrustCentral(world) }
        try app.expect("state 5")
        return app
    }

    /// Launches an app that has visited the sensor.
    func visitor(on device: SimulatedDevice? = nil) throws -> TrustCentral {
        let app = try app(on: device)
        try app.visit()
        return app
    }

    /// Launches an app that has paired with the sensor.
    func pairedApp(on device: SimulatedDevice? = nil) throws -> TrustCentral {
        let app = try app(on: device)
        try app.pair()
        return app
    }

    /// Starts recording the alerts of both devices.
    func watchAlerts() -> Notes<String> {
        let log = Notes<String>()
        for device in [phone, sensor] {
            let name = device.name
            device.person.watchAlerts { alert in log.add("\(name): \(alert.content)") }
        }
        return log
    }
}

/// A value protected by a lock.
final class Locked<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value { stored.withLock { $0 } }
    func change(_ body: @Sendable (inout Value) -> Void) { stored.withLock { body(&$0) } }
}

extension SimulatedWorld {
    /// From now on no peer responds to the start of encryption: LL_ENC_REQ is sent as an empty packet (Core Vol 6 Part
    /// B 2.4, 2.4.2.4), which is acknowledged like any other.
    func withholdsEncryption() {
        let state = state
        loop.waitFor {
            state.value.radio.onSend = { frame in
                let isRequest = frame.pdu.count > 2 && frame.pdu[0] & 3 == 3 && frame.pdu[2] == 0x03
                guard frame.channel < 37, isRequest else { return }
                frame.pdu = [frame.pdu[0] & ~3 | 1, 0]
            }
        }
    }
}

extension Error {
    var att: CBATTError.Code? { (self as? CBATTError)?.code }
    var core: CBError.Code? { (self as? CBError)?.code }
}
