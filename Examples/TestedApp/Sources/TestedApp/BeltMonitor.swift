import CoreBluetooth
import Foundation

/// Follows a heart-rate belt: finds it, connects within ten seconds, and reports its location and each heart rate. When
/// the belt has been out of range, it goes on.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class BeltMonitor: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case searching
        case connecting
        case connected
        case location(Int)
        case rate(Int)
        case disconnected
        case timedOut
        case failed(String)
    }

    /// The longest time for the first connection, in seconds.
    package static let patience = 10.0

    private static let service = CBUUID(string: "180D")
    private static let measurement = CBUUID(string: "2A37")
    private static let location = CBUUID(string: "2A38")

    private let queue: DispatchQueue
    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    /// Retained while in use, since a manager does not retain its peripherals.
    private var belt: CBPeripheral?
    private var timeOut: DispatchWorkItem?

    package init(queue: DispatchQueue = .main, report: @escaping (Report) -> Void) {
        self.queue = queue
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private func connect(_ peripheral: CBPeripheral) {
        report(.connecting)
        manager?.connect(peripheral)
        let timeOut = DispatchWorkItem { [weak self] in self?.giveUp() }
        self.timeOut = timeOut
        queue.asyncAfter(deadline: .now() + Self.patience, execute: timeOut)
    }

    /// A pending connection has no time-out of its own.
    private func giveUp() {
        guard let belt else { return }
        manager?.cancelPeripheralConnection(belt)
        self.belt = nil
        report(.timedOut)
    }
}

extension BeltMonitor: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return report(.failed("Bluetooth is not available")) }
        report(.searching)
        central.scanForPeripherals(withServices: [Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        belt = peripheral
        peripheral.delegate = self
        connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        timeOut?.cancel()
        report(.connected)
        // After a reconnection too: the services of the connection before are no longer valid.
        peripheral.discoverServices([Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        timeOut?.cancel()
        report(.failed(error?.localizedDescription ?? "no connection"))
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        // The app has given up before.
        guard belt != nil else { return }
        report(.disconnected)
        // Waits until the belt is back, however long that takes.
        central.connect(peripheral)
    }
}

extension BeltMonitor: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.measurement, Self.location], for: service)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        for characteristic in service.characteristics ?? [] {
            switch characteristic.uuid {
            case Self.measurement: peripheral.setNotifyValue(true, for: characteristic)
            case Self.location: peripheral.readValue(for: characteristic)
            default: break
            }
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        let octets = [UInt8](characteristic.value ?? Data())
        switch characteristic.uuid {
        case Self.measurement:
            guard octets.count >= 2 else { return report(.failed("unreadable heart rate")) }
            report(.rate(Int(octets[1])))
        case Self.location:
            guard let place = octets.first else { return report(.failed("unreadable location")) }
            report(.location(Int(place)))
        default: break
        }
    }
}
