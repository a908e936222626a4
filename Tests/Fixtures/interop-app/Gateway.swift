import CoreBluetooth

/// A central app with restoration: it subscribes to one value of one peripheral, and continues from its restored state.
final class Gateway: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: all mutable state is accessed only on the manager's queue.
    private let service: CBUUID
    private let characteristic: CBUUID
    private let say: (String) -> Void
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?

    init(service: CBUUID, characteristic: CBUUID, queue: DispatchQueue, say: @escaping (String) -> Void) {
        self.service = service
        self.characteristic = characteristic
        self.say = say
        super.init()
        manager = CBCentralManager(
            delegate: self,
            queue: queue,
            options: [CBCentralManagerOptionRestoreIdentifierKey: "gateway"]
        )
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let notifying = peripherals.flatMap { $0.services ?? [] }.flatMap { $0.characteristics ?? [] }
            .filter(\.isNotifying)
        say("restored \(peripherals.count) peripherals, \(notifying.count) notifying")
        sensor = peripherals.first
        sensor?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        say("state \(central.state.rawValue)")
        // All peripherals are invalid from then on (behaviour 1.10).
        if central.state.rawValue < CBManagerState.poweredOff.rawValue { sensor = nil }
        guard central.state == .poweredOn else { return }
        // A peripheral that is connected for another app does not advertise.
        if sensor == nil {
            sensor = central.retrieveConnectedPeripherals(withServices: [service]).first
            sensor?.delegate = self
        }
        guard let sensor else { return central.scanForPeripherals(withServices: [service]) }
        sensor.state == .connected ? explore(sensor) : central.connect(sensor)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensor == nil else { return }
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        say("connected")
        explore(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        say("disconnected")
        central.connect(peripheral)
    }

    /// Discovers only what is not known yet (behaviour 10.13).
    private func explore(_ peripheral: CBPeripheral) {
        guard let found = peripheral.services?.first(where: { $0.uuid == service }) else {
            return peripheral.discoverServices([service])
        }
        guard let value = found.characteristics?.first(where: { $0.uuid == characteristic }) else {
            return peripheral.discoverCharacteristics([characteristic], for: found)
        }
        value.isNotifying ? say("still notifying") : peripheral.setNotifyValue(true, for: value)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { explore(peripheral) }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        explore(peripheral)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        say(error.map { "not notifying: \($0)" } ?? "notifying \(characteristic.isNotifying)")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let octets = characteristic.value ?? Data()
        say("value " + octets.map { String($0, radix: 16) }.joined(separator: " "))
    }
}
