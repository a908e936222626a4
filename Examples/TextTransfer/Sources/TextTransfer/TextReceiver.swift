import CoreBluetooth
import Foundation

/// Finds a nearby sender of text, subscribes, and reports the text once it is complete.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class TextReceiver: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case searching
        case connected
        case received(String)
        case disconnected
        case failed(String)
    }

    /// The signal strength, in dBm, below which a sender is too far away.
    private static let weakest = -80

    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    private var sender: CBPeripheral?
    private var text = Data()
    private var isDone = false

    package init(queue: DispatchQueue? = nil, report: @escaping (Report) -> Void) {
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private func search() {
        report(.searching)
        // With duplicates, since a sender that is too far away may come closer.
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        manager?.scanForPeripherals(withServices: [TransferService.service], options: options)
    }

    /// Ends the transfer: unsubscribes first, then disconnects.
    private func finish(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) {
        isDone = true
        report(.received(String(decoding: text, as: UTF8.self)))
        peripheral.setNotifyValue(false, for: characteristic)
    }
}

extension TextReceiver: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return report(.unavailable(central.state)) }
        search()
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        // 127 means that the strength is not known.
        guard sender == nil, RSSI.intValue >= Self.weakest, RSSI.intValue != 127 else { return }
        central.stopScan()
        sender = peripheral
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report(.connected)
        text.removeAll()
        peripheral.delegate = self
        peripheral.discoverServices([TransferService.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        sender = nil
        report(.failed(error?.localizedDescription ?? "no connection"))
        search()
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        sender = nil
        report(.disconnected)
        if !isDone { search() }
    }
}

extension TextReceiver: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        for service in peripheral.services ?? [] where service.uuid == TransferService.service {
            peripheral.discoverCharacteristics([TransferService.text], for: service)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        for characteristic in service.characteristics ?? [] where characteristic.uuid == TransferService.text {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        guard let value = characteristic.value else { return }
        if value == TransferService.end { finish(peripheral, characteristic) } else { text.append(value) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        if !characteristic.isNotifying { manager?.cancelPeripheralConnection(peripheral) }
    }
}
