import Accessories
import BluetoothTesting
import CoreBluetooth
import Synchronization
import Testing

/// Repeats what was done on the page of `harald demo --page`. Put your own app in place of the one below.
///
/// It belongs in a test target, as `WorldTests.swift`. The target depends on the products `Accessories`,
/// `BluetoothTesting` and `CoreBluetooth` of the package `harald`.
@Test(.world(seed: 7)) func whatWasDone() async {
    let world = BluetoothTesting.world
    let screen = Screen()
    world.changeAir { $0.propagation.exponent = 3 }
    let phone = world.addDevice(named: "Phone")
    let sensor = world.addAccessory(.heartRate, at: Position(x: 40, y: 20))
    phone.install("watch", declaring: AppDeclaration(backgroundModes: .central)) { _, _ in
        HeartRateWatch { line in
            screen.show(line)
            world.note("the app shows: \(line)")
        }
    }
    phone.open("watch")

    await world.run(for: .milliseconds(4321))
    sensor.device.move(to: Position(x: 90.5, y: -3))
    phone.move(to: Position(x: -1, y: 0))
    await world.run(for: .milliseconds(9000))
    sensor.device.move(to: Position(x: 20, y: 0))
    await world.run(for: .milliseconds(15000))
    sensor.begin(DeviceFault(.lowBattery))
    sensor.begin(DeviceFault(.lossy, 0.25))
    await world.run(for: .milliseconds(1))
    let wall6 = Wall(from: Position(x: 10.5, y: -30), to: Position(x: 10.5, y: 30), attenuation: 40)
    world.changeAir { $0.walls.append(wall6) }
    await world.run(for: .milliseconds(7500))
    world.changeAir { $0.walls.remove(at: 0) }
    world.changeAir { $0.channelNoise = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, -82.5) }) }
    sensor.end(DeviceFault(.lossy, 0.25))
    await world.run(for: .milliseconds(12000))
    world.changeAir { $0.channelNoise = [:] }
    sensor.begin(DeviceFault(.jammedChannel))
    phone.app("watch")?.removeFromMemory()
    await world.run(for: .milliseconds(30000))
    sensor.begin(DeviceFault(.outOfRange))
    phone.open("watch")
    await world.run(for: .milliseconds(10000))
    sensor.end(DeviceFault(.outOfRange))
    phone.app("watch")?.suspend()
    await world.run(for: .milliseconds(20000))
    phone.app("watch")?.forceQuit()
    await world.run(for: .milliseconds(1000))
    phone.open("watch")
    sensor.begin(DeviceFault(.slowAnswers, 2))
    await world.run(for: .milliseconds(20000))

    let shown = """
        searching
        found the sensor
        lost the sensor
        found the sensor
        lost the sensor
        searching
        found the sensor
        lost the sensor
        found the sensor
        searching
        found the sensor
        """
    #expect(screen.lines.joined(separator: "\n") == shown)
}

/// The app: shows the heart rate of the first sensor in range, and connects again whenever it is lost.
final class HeartRateWatch: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: the other properties are only used on the manager's queue, where its callbacks arrive.
    private let last = Mutex("")
    private let show: @Sendable (String) -> Void
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?

    /// The last heart rate or battery level. From any thread.
    var value: String { last.withLock { $0 } }

    init(show: @escaping @Sendable (String) -> Void) {
        self.show = show
        super.init()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "watch"]
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "watch"), options: options)
    }

    func centralManager(_ central: CBCentralManager, willRestoreState state: [String: Any]) {
        sensor = (state[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        sensor?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return show("Bluetooth is off") }
        if let sensor, sensor.state == .connected { return explore(sensor) }
        show("searching")
        if let sensor {
            central.connect(sensor)
        } else {
            central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        sensor = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        explore(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        show("lost the sensor")
        last.withLock { $0 = "" }
        // Without a time limit: the sensor may come back at any time.
        central.connect(peripheral)
    }

    private func explore(_ sensor: CBPeripheral) {
        show("found the sensor")
        sensor.discoverServices([CBUUID(string: "180D"), CBUUID(string: "180F")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([CBUUID(string: "2A37"), CBUUID(string: "2A19")], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value else { return }
        if characteristic.uuid == CBUUID(string: "2A37"), value.count > 1 {
            last.withLock { $0 = "\(value[1]) bpm" }
        } else if characteristic.uuid == CBUUID(string: "2A19"), let level = value.first {
            show("the sensor's battery is at \(level) %")
        }
    }
}

/// The lines that the app has shown, over all of its launches.
final class Screen: Sendable {
    /// The number of lines that are kept, the first ones.
    static let maximumLines = 10_000
    private let shown = Mutex<[String]>([])
    var lines: [String] { shown.withLock { $0 } }

    func show(_ line: String) {
        shown.withLock { shown in
            if shown.count < Self.maximumLines { shown.append(line) }
        }
    }
}
