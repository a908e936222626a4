import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics

/// A peripheral with one service, whose characteristic notifies.
final class TestBelt: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    static let service = CBUUID(string: "180D")
    let rate = CBMutableCharacteristic(type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: [])
    private(set) var manager: CBPeripheralManager?

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "belt"))
    }

    func send(_ value: [UInt8]) { _ = manager?.updateValue(Data(value), for: rate, onSubscribedCentrals: nil) }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [rate]
        peripheral.add(service)
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
    }
}

/// A central that follows a belt.
final class TestFollower: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    let notes = Notes<String>()
    private let found = Mutex<CBPeripheral?>(nil)
    private(set) var manager: CBCentralManager?

    var belt: CBPeripheral? { found.withLock { $0 } }

    override convenience init() {
        self.init(on: DispatchQueue(label: "follower"))
    }

    init(on queue: DispatchQueue?) {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [TestBelt.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        found.withLock { $0 = peripheral }
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        notes.add("connected")
        peripheral.discoverServices([TestBelt.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        notes.add("disconnected")
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for each in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: each) }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add("subscribed")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add("\(characteristic.value?.last ?? 0) bpm")
    }
}

/// A belt and a phone that follows it.
struct TestPair {
    let strap: SimulatedDevice
    let phone: SimulatedDevice
    let belt: TestBelt
    let follower: TestFollower

    init(in world: TestWorld, followerQueue: DispatchQueue? = DispatchQueue(label: "follower")) {
        strap = world.addDevice(named: "Belt", .accessory)
        phone = world.addDevice(named: "Phone", at: Position(x: 1))
        belt = strap.launch("belt") { _ in TestBelt() }
        follower = phone.launch("follower") { _ in TestFollower(on: followerQueue) }
    }
}
