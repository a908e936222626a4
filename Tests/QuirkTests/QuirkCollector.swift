import CoreBluetooth
import Foundation
import Synchronization

/// An app that records the peripherals it discovers in order, and connects to those that a test selects, for as long as
/// it lives.
final class QuirkCollector: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything except `log`, which has a lock, is set once, and is thread-safe by itself.

    struct Log {
        var found: [CBPeripheral] = []
        /// By the index of the discovery.
        var connected: Set<Int> = []
        var failed: Set<Int> = []
        var values: Set<Int> = []
    }

    private let log = Mutex(Log())
    private let reads: Bool
    private var manager: CBCentralManager!

    /// - Parameter reads: Whether it reads a protected value of each connected peripheral, so that the two pair.
    init(reads: Bool) {
        self.reads = reads
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "collector"))
    }

    var found: Int { log.withLock { $0.found.count } }
    var connected: Set<Int> { log.withLock { $0.connected } }
    var failed: Set<Int> { log.withLock { $0.failed } }
    var values: Set<Int> { log.withLock { $0.values } }

    func connect(to number: Int) {
        if let peripheral = log.withLock({ $0.found[number] }) as CBPeripheral? { manager.connect(peripheral) }
    }

    func stopScan() { manager.stopScan() }

    private func number(_ peripheral: CBPeripheral) -> Int {
        log.withLock { $0.found.firstIndex(of: peripheral) ?? -1 }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [QuirkSensor.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        log.withLock { if !$0.found.contains(peripheral) { $0.found.append(peripheral) } }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        let number = number(peripheral)
        log.withLock { _ = $0.connected.insert(number) }
        guard reads else { return }
        peripheral.delegate = self
        peripheral.discoverServices([QuirkSensor.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        let number = number(peripheral)
        log.withLock { _ = $0.failed.insert(number) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return }
        peripheral.discoverCharacteristics([QuirkSensor.email], for: service)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        guard let characteristic = service.characteristics?.first else { return }
        peripheral.readValue(for: characteristic)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard characteristic.value == QuirkSensor.value else { return }
        let number = number(peripheral)
        log.withLock { _ = $0.values.insert(number) }
    }
}
