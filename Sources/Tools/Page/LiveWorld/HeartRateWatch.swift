import CoreBluetooth
import Synchronization

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
