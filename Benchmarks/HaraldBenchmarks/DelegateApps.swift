import CoreBluetooth
import Dispatch
import Foundation
import Synchronization

/// The identifiers that the two apps of the delegate rows share.
enum DelegateProfile {
    static let service = CBUUID(string: "180D")
    static let notified = CBUUID(string: "2A37")
    static let written = CBUUID(string: "2A39")
}

/// An app in the peripheral role: notifies as fast as it can, and counts writes.
final class NotifyingApp: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue, except for the counter, which is atomic.
    let written = Tally()
    private let queue = DispatchQueue(label: "notifier")
    private var manager: CBPeripheralManager!
    private var characteristic: CBMutableCharacteristic!
    private var value = Data()
    private var left = 0

    /// The manager and the characteristic that send notifications.
    var sender: (manager: CBPeripheralManager, characteristic: CBMutableCharacteristic)? {
        queue.sync { characteristic.map { (manager, $0) } }
    }

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    /// Notifies `value` the given number of times.
    func notify(_ value: Data, times count: Int) {
        queue.sync {
            self.value = value
            left += count
            pump()
        }
    }

    private func pump() {
        while left > 0, manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) { left -= 1 }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { pump() }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        characteristic = CBMutableCharacteristic(
            type: DelegateProfile.notified,
            properties: .notify,
            value: nil,
            permissions: .readable
        )
        let written = CBMutableCharacteristic(
            type: DelegateProfile.written,
            properties: .writeWithoutResponse,
            value: nil,
            permissions: .writeable
        )
        let service = CBMutableService(type: DelegateProfile.service, primary: true)
        service.characteristics = [characteristic, written]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [DelegateProfile.service]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        written.add(requests.count)
    }
}

/// An app in the central role: counts notifications, and writes as fast as it can.
final class FollowingApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue, except for the counters, which are atomic.
    let notified = Tally()
    let isReady = Atomic<Bool>(false)
    /// Counts one when the app is ready.
    let ready = Tally()
    private let queue = DispatchQueue(label: "follower")
    /// The ages of the last values in nanoseconds, from the time in their last eight octets.
    private let ages = Mutex<[Int]>([])
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    private var characteristic: CBCharacteristic?
    private var notifying: CBCharacteristic?
    private var value = Data()
    private var left = 0

    /// The discovered objects; nil until all are discovered.
    var found: (peripheral: CBPeripheral, notified: CBCharacteristic, written: CBCharacteristic)? {
        queue.sync {
            guard let peripheral, let notifying, let characteristic else { return nil }
            return (peripheral, notifying, characteristic)
        }
    }

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Writes `value` the given number of times, without response.
    func write(_ value: Data, times count: Int) {
        queue.sync {
            self.value = value
            left += count
            pump()
        }
    }

    private func pump() {
        guard let peripheral, let characteristic else { return }
        while left > 0, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(value, for: characteristic, type: .withoutResponse)
            left -= 1
        }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { pump() }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [DelegateProfile.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([DelegateProfile.service])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for found in service.characteristics ?? [] {
            if found.uuid == DelegateProfile.written { characteristic = found }
            guard found.uuid == DelegateProfile.notified else { continue }
            notifying = found
            peripheral.setNotifyValue(true, for: found)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        isReady.store(error == nil, ordering: .releasing)
        if error == nil { ready.add() }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        notified.add()
        guard let value = characteristic.value, value.count >= 8, value.last == 0 else { return }
        let then = value.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let now = DispatchTime.now().uptimeNanoseconds
        ages.withLock { $0.append(Int(clamping: now &- then)) }
    }

    /// The ages of the values that contain their creation time.
    var delays: [Int] { ages.withLock { $0 } }
}

/// An app that scans, and keeps all its discoveries.
final class KeepingApp: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: `found` is accessed only on the manager's queue, and read when the queue is idle.
    private(set) var found: [CBPeripheral] = []
    private var manager: CBCentralManager!

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "keeper"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        found.append(peripheral)
    }
}
