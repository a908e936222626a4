import CoreBluetooth

/// Measures the distance to an accessory.
final class Meter: NSObject, CBCentralManagerDelegate {
    static let ranging = CBUUID(string: "185B")

    private let queue = DispatchQueue(label: "meter")
    private lazy var manager = CBCentralManager(delegate: self, queue: queue)
    private var tag: CBPeripheral?
    private(set) var distances: [Double] = []

    func start() { _ = manager }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        guard CBCentralManager.supports(.channelSounding) else { return }
        central.scanForPeripherals(withServices: [Self.ranging])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        central.stopScan()
        tag = peripheral
        central.connect(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didConnect peripheral: CBPeripheral
    ) {
        peripheral.delegate = self
        peripheral.discoverServices([Self.ranging])
    }
}

extension Meter: CBPeripheralDelegate {
    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverServices error: (any Error)?
    ) {
        guard let service = peripheral.services?.first else { return }
        let features = CBUUID(string: "2C14")
        peripheral.discoverCharacteristics([features], for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard let features = service.characteristics?.first else { return }
        peripheral.readValue(for: features)
    }
}
