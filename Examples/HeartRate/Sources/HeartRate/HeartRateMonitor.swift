import CoreBluetooth
import Foundation

/// Finds a heart-rate sensor, connects to it, and reports its location on the body and each heart rate.
///
/// All methods and reports run on the queue passed to the initializer, or on the main queue.
package final class HeartRateMonitor: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case searching
        case found(name: String?)
        case connected
        case sensorLocation(String)
        case heartRate(Int)
        case disconnected
        case failed(String)
    }

    private static let service = CBUUID(string: "180D")
    private static let measurement = CBUUID(string: "2A37")
    private static let location = CBUUID(string: "2A38")

    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    /// Retained while in use, since a manager does not retain its peripherals.
    private var sensor: CBPeripheral?

    package init(queue: DispatchQueue? = nil, report: @escaping (Report) -> Void) {
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Disconnects from the sensor.
    package func stop() {
        guard let sensor else { return }
        for characteristic in (sensor.services ?? []).compactMap(\.characteristics).joined()
        where characteristic.isNotifying {
            sensor.setNotifyValue(false, for: characteristic)
        }
        manager?.cancelPeripheralConnection(sensor)
    }

    private func search() {
        report(.searching)
        manager?.scanForPeripherals(withServices: [Self.service])
    }
}

extension HeartRateMonitor: CBCentralManagerDelegate {
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
        central.stopScan()
        sensor = peripheral
        report(.found(name: advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name))
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report(.connected)
        peripheral.delegate = self
        peripheral.discoverServices([Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        report(.failed(error?.localizedDescription ?? "no connection"))
        search()
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        report(.disconnected)
        // A sensor that went out of range reconnects when it is back, since a pending connection does not time out.
        if error != nil { central.connect(peripheral) } else { sensor = nil }
    }
}

extension HeartRateMonitor: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        for service in peripheral.services ?? [] where service.uuid == Self.service {
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
            if characteristic.properties.contains(.notify) { peripheral.setNotifyValue(true, for: characteristic) }
            if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        guard let value = characteristic.value else { return }
        switch characteristic.uuid {
        case Self.measurement: if let rate = Self.rate(of: value) { report(.heartRate(rate)) }
        case Self.location: report(.sensorLocation(Self.place(of: value)))
        default: break
        }
    }
}

extension HeartRateMonitor {
    /// Parses a Heart Rate Measurement, in beats per minute. The least significant bit of the flags tells whether the
    /// rate has one octet or two.
    static func rate(of value: Data) -> Int? {
        let octets = [UInt8](value)
        guard let flags = octets.first else { return nil }
        if flags & 1 == 0 { return octets.count >= 2 ? Int(octets[1]) : nil }
        return octets.count >= 3 ? Int(octets[1]) | Int(octets[2]) << 8 : nil
    }

    /// Returns the body location in a Body Sensor Location.
    static func place(of value: Data) -> String {
        let places = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]
        guard let number = value.first.map(Int.init), places.indices.contains(number) else { return "unknown" }
        return places[number]
    }
}
