import CoreBluetooth
import Foundation

/// Finds an accessory with the Ranging Service, pairs with it, and reports the distance to it by Channel Sounding.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class DistanceMeter: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        /// This device cannot measure distances, or must not in this region.
        case unsupported
        case searching
        case found(name: String?)
        case paired
        /// The distance in metres.
        case distance(Double)
        case failed(String)
        case ended
    }

    private static let service = CBUUID(string: "185B")
    private static let features = CBUUID(string: "2C14")

    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    /// Retained while in use, since a manager does not retain its peripherals.
    private var accessory: CBPeripheral?

    package init(queue: DispatchQueue? = nil, report: @escaping (Report) -> Void) {
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Ends the measurement.
    package func stop() {
        accessory?.cancelChannelSoundingSession()
    }
}

extension DistanceMeter: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return report(.unavailable(central.state)) }
        guard CBCentralManager.supports(.channelSounding) else { return report(.unsupported) }
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
        accessory = peripheral
        report(.found(name: peripheral.name))
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        report(.ended)
        if error != nil { central.connect(peripheral) }
    }
}

extension DistanceMeter: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] where service.uuid == Self.service {
            peripheral.discoverCharacteristics([Self.features], for: service)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        // The value is protected: reading it pairs.
        for characteristic in service.characteristics ?? [] { peripheral.readValue(for: characteristic) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        report(.paired)
        peripheral.startChannelSoundingSession(CBChannelSoundingSessionConfiguration(role: .initiator))
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {
        // A negative distance is none.
        if let results, results.distance >= 0 { report(.distance(results.distance)) }
        if let error { report(.failed(error.localizedDescription)) }
    }

    package func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
        report(error.map { .failed($0.localizedDescription) } ?? .ended)
    }
}
