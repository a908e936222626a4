import CoreBluetooth

/// Follows a belt.
final class Follower: NSObject, CBCentralManagerDelegate {
    private let queue = DispatchQueue(label: "follower")
    private lazy var manager = CBCentralManager(delegate: self, queue: queue)

    func start() { _ = manager }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    }
}
