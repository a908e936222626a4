import ActivityKit
import CoreBluetooth

/// What the Live Activity shows.
struct Search: ActivityAttributes {
    struct ContentState: Codable, Hashable, Sendable {
        var count: Int
    }
}

/// Finds all devices around.
final class Finder: NSObject, @unchecked Sendable {
    private let queue = DispatchQueue(label: "finder")
    private var manager: CBCentralManager?
    private(set) var names: [String] = []

    func start() {
        manager = CBCentralManager(delegate: self, queue: queue)
    }
}

extension Finder: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        names.append(peripheral.name ?? "")
    }
}
