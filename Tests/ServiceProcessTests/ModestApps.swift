import AppStandIns
import CoreBluetooth
import Foundation
import Synchronization

/// A peripheral app that counts: each notified value is one more than the last.
final class ModestSensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: set in `start` and then only read; mutable state is in mutexes.
    static let service = CBUUID(string: "5EED0001-0000-4000-8000-486172616C64")
    static let counter = CBUUID(string: "5EED0002-0000-4000-8000-486172616C64")

    private let manager = Mutex<CBPeripheralManager?>(nil)
    private let subscribers = Mutex(0)
    private let next = Mutex<UInt32>(0)
    private let characteristic = CBMutableCharacteristic(counter, [.read, .notify])

    /// Creates the manager, on the thread that launches the app.
    func start() -> CBPeripheralManager {
        let made = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "sensor"))
        manager.withLock { $0 = made }
        return made
    }

    /// The number of the next value.
    var count: UInt32 { next.withLock { $0 } }

    /// Notifies the next value, if there is a subscriber and the queue has space.
    func notify() {
        guard subscribers.withLock({ $0 }) > 0 else { return }
        let value = next.withLock { $0 }
        let data = withUnsafeBytes(of: value.littleEndian) { Data($0) }
        let isSent = manager.withLock { $0 }?.updateValue(data, for: characteristic, onSubscribedCentrals: nil)
        if isSent == true { next.withLock { $0 += 1 } }
    }

    func setAdvertising(_ isOn: Bool) {
        guard let manager = manager.withLock({ $0 }) else { return }
        guard isOn else { return manager.stopAdvertising() }
        manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [characteristic]
        peripheral.add(service)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        subscribers.withLock { $0 += 1 }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        subscribers.withLock { $0 -= 1 }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data([0])
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .writeNotPermitted) }
    }
}

/// A central app that subscribes to a ``ModestSensor``, and records each gap in the values.
final class ModestFollower: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, Sendable {
    private struct State {
        var sensor: CBPeripheral?
        var last: UInt32?
        var values = 0
        var gaps: [String] = []
        var disconnections = 0
    }

    private let state = Mutex(State())

    var values: Int { state.withLock { $0.values } }
    var last: UInt32? { state.withLock { $0.last } }
    var gaps: [String] { state.withLock { $0.gaps } }
    var disconnections: Int { state.withLock { $0.disconnections } }

    /// Scans for the sensor.
    func follow(_ manager: CBCentralManager) {
        state.withLock {
            $0.last = nil
            $0.sensor = nil
        }
        manager.scanForPeripherals(withServices: [ModestSensor.service])
    }

    /// Stops scanning, and disconnects from the sensor.
    func leave(_ manager: CBCentralManager) {
        manager.stopScan()
        if let sensor = state.withLock({ $0.sensor }) { manager.cancelPeripheralConnection(sensor) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard state.withLock({ $0.sensor }) == nil else { return }
        state.withLock { $0.sensor = peripheral }
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([ModestSensor.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        guard error != nil else { return }
        state.withLock {
            $0.disconnections += 1
            $0.last = nil
        }
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        peripheral.services?.forEach { peripheral.discoverCharacteristics([ModestSensor.counter], for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        service.characteristics?.forEach { peripheral.setNotifyValue(true, for: $0) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let data = characteristic.value, data.count == 4 else { return }
        let value = data.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        state.withLock { state in
            state.values += 1
            if let last = state.last, value != last &+ 1 { state.gaps.append("\(value) after \(last)") }
            state.last = value
        }
    }
}
