import CoreBluetooth

/// A central app that reads one value of one peripheral, once; a protected value makes the devices pair.
final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
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
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        say("state \(central.state.rawValue)")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
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
        peripheral.discoverServices([service])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        peripheral.services?.forEach { peripheral.discoverCharacteristics([characteristic], for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        service.characteristics?.forEach { peripheral.readValue(for: $0) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        say(error.map { "refused: \($0)" } ?? "read \(characteristic.value?.count ?? 0) octets")
    }
}
