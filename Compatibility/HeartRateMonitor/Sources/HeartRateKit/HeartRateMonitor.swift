import Combine
import CoreBluetooth
import Foundation
import os.log

#if os(iOS)
    import UIKit
#endif

/// Finds a heart-rate sensor and publishes its measurements.
public final class HeartRateMonitor: NSObject, ObservableObject {
    public enum State: Equatable {
        case idle
        case searching
        case connected(String)
    }

    @Published public private(set) var state = State.idle
    public let sensors = SensorList()
    public let pace = Pace()
    public let rates = PassthroughSubject<Int, Never>()
    public let failures = PassthroughSubject<Error, Never>()

    private let logger = Logger(subsystem: "com.example.heart-rate", category: "monitor")
    private let log = OSLog(subsystem: "com.example.heart-rate", category: "values")
    private let started = DispatchTime.now()
    private var central: CBCentralManager!
    private var sensor: CBPeripheral?
    private var count = 0

    private static let service = CBUUID(string: "180D")
    private static let measurement = CBUUID(string: "2A37")

    public func start() {
        central = CBCentralManager(delegate: self, queue: nil)
    }

    /// The number of values received so far. May be read from any thread.
    public var valueCount: Int {
        objc_sync_enter(self)
        defer { objc_sync_exit(self) }
        return count
    }

    func received(_ value: Data) {
        guard let measurement = HeartRateMeasurement(value) else {
            os_log("%{public}@ is no measurement", log: log, type: .error, value as CVarArg)
            return
        }
        objc_sync_enter(self)
        count += 1
        objc_sync_exit(self)
        if case .nanoseconds(let nanoseconds) = started.distance(to: .now()) {
            let milliseconds = UInt64(nanoseconds) / NSEC_PER_MSEC
            os_log("%d bpm after %{public}@ ms", log: log, type: .info, measurement.beatsPerMinute, "\(milliseconds)")
        }
        pace.note()
        autoreleasepool { rates.send(measurement.beatsPerMinute) }
        feedback()
    }

    private func feedback() {
        #if os(iOS)
            UIImpactFeedbackGenerator(style: .light).impactOccurred()
        #endif
    }
}

extension HeartRateMonitor: CBCentralManagerDelegate {
    public func centralManagerDidUpdateState(_ central: CBCentralManager) {
        logger.notice("the manager's state is \(central.state.rawValue, privacy: .public)")
        guard central.state == .poweredOn else { return }
        state = .searching
        central.scanForPeripherals(withServices: [Self.service], options: nil)
    }

    public func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        logger.notice(
            "found \(peripheral) at \(RSSI, privacy: .public) dBm, \(pseudonym(of: peripheral.identifier), privacy: .public)"
        )
        sensors.add(peripheral)
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral, options: nil)
    }

    public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        state = .connected(peripheral.name ?? "no name")
        peripheral.discoverServices([Self.service])
    }

    public func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        if let error = error { failures.send(error) }
    }
}

extension HeartRateMonitor: CBPeripheralDelegate {
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.measurement], for: service)
        }
    }

    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: Error?
    ) {
        for characteristic in service.characteristics ?? [] where characteristic.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        if let error = error { return failures.send(error) }
        if let value = characteristic.value { received(value) }
    }
}
