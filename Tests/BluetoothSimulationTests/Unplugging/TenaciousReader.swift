import CoreBluetooth
import Foundation
import Synchronization

/// An app that reads one protected value, and starts over after each interruption.
final class TenaciousReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything except `log`, which has a lock, is accessed only on the manager's queue, where the callbacks
    // arrive.

    /// The events that the app has received.
    struct Log: Sendable {
        var states: [CBManagerState] = []
        var values = 0
        var identifiers: Set<UUID> = []
        /// Whether the system has reported that the peer lost the bond.
        var isForgotten = false
    }

    private let log = Mutex(Log())
    private let queue = DispatchQueue(label: "reader")
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    var seen: Log { log.withLock { $0 } }

    /// Scans again after the person has forgotten a peer.
    func beginAnew() {
        log.withLock { $0.isForgotten = false }
        queue.sync { scan() }
    }

    private func scan() {
        if let peripheral { manager.cancelPeripheralConnection(peripheral) }
        peripheral = nil
        if manager.state == .poweredOn { manager.scanForPeripherals(withServices: [Trust.service]) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log.withLock { $0.states.append(central.state) }
        if central.state == .poweredOn { scan() } else { peripheral = nil }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([Trust.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        failed(error)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if error != nil { failed(error) }
    }

    private func failed(_ error: (any Error)?) {
        peripheral = nil
        guard error?.core != .peerRemovedPairingInformation else { return log.withLock { $0.isForgotten = true } }
        scan()
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first, error == nil else { return scan() }
        peripheral.discoverCharacteristics([Trust.email], for: service)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        guard let characteristic = service.characteristics?.first, error == nil else { return scan() }
        peripheral.readValue(for: characteristic)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        if let error {
            log.withLock { $0.isForgotten = $0.isForgotten || error.core == .peerRemovedPairingInformation }
            return scan()
        }
        log.withLock { log in
            log.values += 1
            log.identifiers.insert(peripheral.identifier)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        peripheral.discoverServices([Trust.service])
    }
}
