import AppStandIns
import BluetoothTesting
import CoreBluetooth
import Foundation
import TestBasics

/// A peripheral with one service, whose characteristic notifies.
final class TestBelt: PeripheralStandIn, @unchecked Sendable {
    static let service = CBUUID(string: "180D")
    let rate = CBMutableCharacteristic(CBUUID(string: "2A37"), .notify)

    init() { super.init("Belt", service: Self.service, [rate], on: DispatchQueue(label: "belt")) }

    func send(_ value: [UInt8]) { send(value, of: rate) }
}

/// A central that follows a belt.
final class TestFollower: CentralStandIn, @unchecked Sendable {
    let notes = Notes<String>()

    init(on queue: DispatchQueue? = DispatchQueue(label: "follower")) {
        super.init(seeking: [TestBelt.service], on: queue)
    }

    override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        notes.add("connected")
        super.centralManager(central, didConnect: peripheral)
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        notes.add("disconnected")
        central.connect(peripheral)
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        peripheral.setNotifyValue(true, for: characteristic)
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add("subscribed")
    }

    override func peripheral(
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
