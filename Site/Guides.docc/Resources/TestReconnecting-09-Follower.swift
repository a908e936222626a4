import CoreBluetooth

/// Follows a belt.
final class Follower: NSObject, CBCentralManagerDelegate {
    private let queue = DispatchQueue(label: "follower")
    private lazy var manager = CBCentralManager(delegate: self, queue: queue)
    private var belt: CBPeripheral?
    private(set) var events: [String] = []

    func start() { _ = manager }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        central.stopScan()
        belt = peripheral
        central.connect(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didConnect peripheral: CBPeripheral
    ) {
        events.append("connected")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        events.append("disconnected")
        central.connect(peripheral)
    }
}
