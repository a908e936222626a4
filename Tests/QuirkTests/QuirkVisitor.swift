import CoreBluetooth
import Foundation
import Synchronization

/// An app that visits a sensor repeatedly: it discovers the sensor, connects, subscribes to a protected value, waits
/// for a notification, and disconnects. Later visits read the value, which shows an existing bond. After any
/// interruption it starts over, as apps do.
final class QuirkVisitor: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything except `log`, which has a lock, is accessed on the manager's queue only, where the callbacks
    // arrive.

    struct Log: Sendable {
        /// The number of completed visits.
        var visits = 0
        var states: [CBManagerState] = []
        /// Errors on the way.
        var errors: [String] = []
    }

    private let log = Mutex(Log())
    private let queue = DispatchQueue(label: "visitor")
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?

    private let isKnown: Bool

    /// - Parameter isKnown: Whether the sensor has a bond with the device, and does not repeat notifications already
    ///   sent.
    init(isKnown: Bool = false) {
        self.isKnown = isKnown
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    var seen: Log { log.withLock { $0 } }

    private func failed(_ step: String, _ error: (any Error)?) {
        log.withLock { $0.errors.append("\(step): \(error.map { "\($0)" } ?? "nothing")") }
        if let peripheral { manager.cancelPeripheralConnection(peripheral) }
        peripheral = nil
        scan()
    }

    private func scan() {
        guard manager.state == .poweredOn else { return }
        // A continuing scan reports no peripheral twice.
        manager.stopScan()
        manager.scanForPeripherals(withServices: [QuirkSensor.service])
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
        if let old = self.peripheral {
            // The pending peripheral may have a new address by now, and then this is it.
            guard old.state == .connecting, old != peripheral else { return }
            central.cancelPeripheralConnection(old)
        }
        self.peripheral = peripheral
        // The scan goes on: an app need not stop it.
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        central.stopScan()
        peripheral.delegate = self
        peripheral.discoverServices([QuirkSensor.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        failed("connecting", error)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        guard peripheral === self.peripheral else { return }
        if error == nil { central.connect(peripheral) } else { failed("the link", error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first, error == nil else { return failed("services", error) }
        peripheral.discoverCharacteristics([QuirkSensor.email], for: service)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        guard let characteristic = service.characteristics?.first, error == nil else {
            return failed("characteristics", error)
        }
        peripheral.setNotifyValue(true, for: characteristic)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil else { return failed("subscribing", error) }
        // A bonded central is subscribed from the start, so the notification came before the request.
        if isKnown || seen.visits > 0 { peripheral.readValue(for: characteristic) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard characteristic.value == QuirkSensor.value, error == nil else { return failed("the value", error) }
        log.withLock { $0.visits += 1 }
        manager.cancelPeripheralConnection(peripheral)
    }
}
