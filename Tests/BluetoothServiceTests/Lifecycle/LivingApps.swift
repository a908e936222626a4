import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// A phone and a strap whose apps follow the lifecycle of apps on a phone.
final class LivingApps {
    let world = ServiceWorld()
    let phone: TestDevice
    let strap: TestDevice
    private(set) var centralApp: InProcessConnection
    private(set) var sensorApp: InProcessConnection
    private(set) var central: TestManager
    private(set) var sensor: TestManager
    private(set) var peer = UUID.blank

    init(
        central centralModes: AppDeclaration.BackgroundModes = [],
        sensor sensorModes: AppDeclaration.BackgroundModes = [],
        restores: Bool = false,
        configure: (inout SystemConfiguration) -> Void = { _ in }
    ) {
        phone = world.device("Phone", configure: configure)
        strap = world.device("Strap", configure: configure)
        centralApp = phone.app("Collector", centralModes)
        sensorApp = strap.app("Sensor", sensorModes)
        central = phone.manager(.central, of: centralApp, restoring: restores ? "collector" : nil)
        sensor = strap.manager(.peripheral, of: sensorApp, restoring: restores ? "sensor" : nil)
        (self.centralModes, self.sensorModes) = (centralModes, sensorModes)
    }

    private let centralModes: AppDeclaration.BackgroundModes
    private let sensorModes: AppDeclaration.BackgroundModes

    /// Launches a new process of the phone's app, which creates its manager.
    func launchCentral() {
        centralApp = phone.app("Collector", centralModes)
        central = phone.manager(.central, of: centralApp, restoring: "collector")
    }

    /// Launches a new process of the strap's app, which creates its manager.
    func launchSensor() {
        sensorApp = strap.app("Sensor", sensorModes)
        sensor = strap.manager(.peripheral, of: sensorApp, restoring: "sensor")
    }

    /// Publishes, connects, and discovers all characteristics.
    func connect(_ options: ConnectOptions = ConnectOptions()) throws -> [BluetoothUUID: AttributeHandle] {
        try sensor.publish()
        peer = try central.find().identifier
        try central.ask(.connect(peer: peer, options: options), "connected") { $0.connection.map { _ in } }
        let handles = try central.explore(peer)
        central.take()
        sensor.take()
        return handles
    }

    /// Connects like ``connect(_:)``, and subscribes the phone's app to measurements.
    func subscribe(_ options: ConnectOptions = ConnectOptions()) throws {
        let handle = try #require(try connect(options)[Example.measurement])
        let state = try central.ask(
            .setNotify(peer: peer, characteristic: handle, enabled: true),
            "subscribed",
            \.notifyState
        )
        #expect(state.isNotifying)
        world.run(.seconds(1))
        central.take()
        sensor.take()
    }

    /// The strap sends a measurement, and 200 ms pass.
    func measure(_ octets: PacketBuffer) {
        sensor.send(.updateValue(characteristic: Example.measurementID, value: octets, centrals: nil))
        world.run(.milliseconds(200))
    }
}

extension TestDevice {
    /// Opens an app with background modes.
    func app(
        _ name: String,
        _ modes: AppDeclaration.BackgroundModes = [],
        usage: String? = nil
    ) -> InProcessConnection {
        let declaration = AppDeclaration(displayName: name, usageDescription: usage, backgroundModes: modes)
        return system.openApp(AppIdentity(name: "com.example.\(name)"), declaring: declaration)
    }
}

extension InProcessConnection {
    /// The user leaves the app, and it is suspended.
    func fallAsleep(in world: ServiceWorld) {
        happened(.left)
        world.run(AppLifecycle.grace)
    }
}
