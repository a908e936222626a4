import AppStandIns
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Synchronization

/// The events of a device's apps, across all launches.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    private let listener: @Sendable (String) -> Void

    /// - Parameter listener: Called with each line, on the thread that adds it.
    init(_ listener: @escaping @Sendable (String) -> Void = { _ in }) {
        self.listener = listener
    }

    func note(_ line: String) {
        lines.withLock { $0.append(line) }
        listener(line)
    }

    /// The lines since the last call of ``take()``.
    var all: [String] { lines.withLock { $0 } }

    /// Removes and returns the lines so far.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

extension AppLaunch {
    var line: String {
        let managers = restoring.centrals.map { "central \($0)" } + restoring.peripherals.map { "peripheral \($0)" }
        return "launched " + (isInBackground ? "for" : "by the person, with") + " \(managers)"
    }
}

enum Belt {
    static let service = CBUUID(string: "180D")
    static let rate = CBUUID(string: "2A37")
    static let note = CBUUID(string: "2A39")
}

/// An app in the central role, written as Apple advises (behaviour 10.13): it scans for a belt, connects, subscribes,
/// and continues where it left off.
final class Collector: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything is accessed only on the queue, except for the manager, which is set once.
    private let journal: Journal
    private var manager: CBCentralManager!
    private var belt: CBPeripheral?
    static let identifier = "collector"

    init(
        _ journal: Journal,
        identifier: String? = Collector.identifier,
        connectOptions: [String: Any]? = nil,
        readsEarly: Bool = true
    ) {
        self.journal = journal
        self.connectOptions = connectOptions
        self.readsEarly = readsEarly
        super.init()
        let options = identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "collector"), options: options)
    }

    private let connectOptions: [String: Any]?
    /// Whether to read the signal strength when it is too early for commands (behaviour 10.11).
    private let readsEarly: Bool

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        journal.note(
            "restores in state \(central.state.rawValue)"
                + (services.map { ", scan for \($0) \(central.isScanning)" } ?? "")
        )
        for peripheral in peripherals {
            let rate = peripheral.services?.first?.characteristics?.first { $0.uuid == Belt.rate }
            journal.note(
                "restored \(peripheral.name ?? "-"), state \(peripheral.state.rawValue)"
                    + (rate.map { ", notifying \($0.isNotifying), writable \(peripheral.canSendWriteWithoutResponse)" }
                        ?? "")
            )
            peripheral.delegate = self
            belt = peripheral
            if readsEarly { peripheral.readRSSI() }
        }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        journal.note("state \(central.state.rawValue)")
        guard central.state == .poweredOn else {
            // Below poweredOff, peripherals are invalid (behaviour 1.13).
            if central.state.rawValue < CBManagerState.poweredOff.rawValue { belt = nil }
            return
        }
        guard let belt else { return central.scanForPeripherals(withServices: [Belt.service]) }
        if belt.state == .disconnected { central.connect(belt) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard belt == nil else { return }
        belt = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral, options: connectOptions)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        journal.note("connected")
        peripheral.discoverServices([Belt.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        journal.note("disconnected")
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        journal.note("RSSI")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for value in service.characteristics ?? [] where value.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: value)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        journal.note("notifying \(characteristic.isNotifying)")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        journal.note("value \(characteristic.value.map { "\(Array($0))" } ?? "-")")
    }
}

/// An app in the peripheral role: a belt that measures when the test asks, and stores a note.
final class Sensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: everything is accessed only on the queue, except for the manager, which is set once.
    private let journal: Journal
    private let queue = DispatchQueue(label: "sensor")
    private var manager: CBPeripheralManager!
    private var rate: CBMutableCharacteristic?
    private var isRestored = false
    static let identifier = "sensor"

    init(_ journal: Journal, identifier: String? = Sensor.identifier) {
        self.journal = journal
        super.init()
        let options = identifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBPeripheralManager(delegate: self, queue: queue, options: options)
    }

    var hasSubscriber: Bool { queue.sync { rate?.subscribedCentrals?.isEmpty == false } }

    /// Sends a measurement to the subscribers, and returns whether the queue accepted it.
    @discardableResult
    func measure(_ value: UInt8) -> Bool {
        queue.sync {
            guard let rate, manager.state == .poweredOn else { return false }
            return manager.updateValue(Data([0, value]), for: rate, onSubscribedCentrals: nil)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        isRestored = true
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        let name = advertised?[CBAdvertisementDataLocalNameKey] as? String ?? "-"
        let uuids = advertised?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        journal.note(
            "restores in state \(peripheral.state.rawValue), advertises \(name) \(uuids) \(peripheral.isAdvertising)"
        )
        for characteristic in services.flatMap({ $0.characteristics ?? [] }).compactMap({
            $0 as? CBMutableCharacteristic
        }) {
            let count = characteristic.subscribedCentrals?.count ?? -1
            journal.note("restored \(characteristic.uuid), \(count) subscribed")
            if characteristic.uuid == Belt.rate { rate = characteristic }
        }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        journal.note("state \(peripheral.state.rawValue), advertising \(peripheral.isAdvertising)")
        guard peripheral.state == .poweredOn, !isRestored else { return }
        let rate = CBMutableCharacteristic(Belt.rate, .notify)
        let note = CBMutableCharacteristic(Belt.note, [.read, .write])
        let service = CBMutableService(type: Belt.service, primary: true)
        service.characteristics = [rate, note]
        self.rate = rate
        peripheral.add(service)
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataServiceUUIDsKey: [Belt.service],
        ])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        journal.note("subscribed to \(characteristic.uuid)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        journal.note("unsubscribed from \(characteristic.uuid)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        journal.note("read of \(request.characteristic.uuid)")
        request.value = Data([7])
        peripheral.respond(to: request, withResult: .success)
    }
}

/// A phone that collects the measurements of a belt. Both apps are installed, so that the system can launch them.
final class RestorationWorld: Sendable {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let belt: SimulatedDevice
    let collected = Journal()
    let sensed = Journal()
    private final class Running: Sendable {
        let sensor = Mutex<Sensor?>(nil)
    }

    /// The current instance of the belt's app.
    private let running = Running()

    init(
        in world: SimulatedWorld = SimulatedWorld(seed: 77),
        collector: String? = Collector.identifier,
        modes: AppDeclaration.BackgroundModes = .central,
        connectOptions: @escaping @Sendable () -> [String: Any]? = { nil },
        sensor identifier: String? = Sensor.identifier,
        usesAccessorySetup: Bool = false,
        version: SystemVersion = .newest,
        restoresOnlySetUpApps: Bool = false
    ) {
        var options = DeviceOptions()
        options.restoresOnlySetUpApps = restoresOnlySetUpApps
        options.version = version
        self.world = world
        phone = world.addDevice(named: "Phone", options: options)
        belt = world.addDevice(named: "Belt")
        let (collected, sensed, running) = (collected, sensed, running)
        var declaration = AppDeclaration(backgroundModes: modes)
        declaration.usesAccessorySetup = usesAccessorySetup
        phone.install("collector", declaring: declaration) { _, launch in
            collected.note(launch.line)
            return Collector(collected, identifier: collector, connectOptions: connectOptions())
        }
        belt.install("sensor", declaring: AppDeclaration(backgroundModes: .peripheral)) { _, launch in
            sensed.note(launch.line)
            let sensor = Sensor(sensed, identifier: identifier)
            running.sensor.withLock { $0 = sensor }
            return sensor
        }
        belt.open("sensor")
        world.run(for: .seconds(1))
    }

    var collector: SimulatedApp { app("collector", of: phone) }
    var sensorApp: SimulatedApp { app("sensor", of: belt) }

    private func app(_ name: String, of device: SimulatedDevice) -> SimulatedApp {
        guard let app = device.app(name) else { preconditionFailure("\(name) has not been opened") }
        return app
    }

    /// Connects and subscribes the phone to measurements.
    func collect(keepingSensed: Bool = false) {
        phone.open("collector")
        world.run(for: .seconds(5))
        _ = collected.take()
        if !keepingSensed { _ = sensed.take() }
    }

    /// The world once the phone collects measurements.
    func collecting() -> Self {
        collect()
        return self
    }

    /// The person quits and reopens the phone's app, which scans for a belt again.
    func lookAnew() {
        collector.forceQuit()
        phone.open("collector")
        world.run(for: .seconds(20))
    }

    /// Measures. Returns whether the belt has a subscriber.
    @discardableResult
    func measure(_ value: UInt8) -> Bool {
        let sensor = running.sensor.withLock { $0 }
        sensor?.measure(value)
        world.run(for: .seconds(1))
        return sensor?.hasSubscriber ?? false
    }

    /// Drops the test's reference to the belt's app after its process has ended.
    func forgetSensor() { running.sensor.withLock { $0 = nil } }
}
