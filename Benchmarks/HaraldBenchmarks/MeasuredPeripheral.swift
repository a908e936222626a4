import CoreBluetooth
import Dispatch
import Foundation

/// Notifies as fast as it can while a central is subscribed, and counts the central's writes.
final class MeasuredPeripheral: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue, except for `manager`, which is set before any callback.
    private let queue = DispatchQueue(label: "measured")
    private var manager: CBPeripheralManager!
    private let notified = CBMutableCharacteristic(
        type: SideBySide.notified,
        properties: .notify,
        value: nil,
        permissions: .readable
    )
    private var value: Data?
    private var written = OctetCount()
    private var unpublished = 0

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    private static func characteristic(
        _ type: CBUUID,
        _ properties: CBCharacteristicProperties,
        _ permissions: CBAttributePermissions
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: type, properties: properties, value: nil, permissions: permissions)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return SideBySide.say("state \(peripheral.state.rawValue)") }
        let service = CBMutableService(type: SideBySide.service, primary: true)
        service.characteristics = [
            notified,
            Self.characteristic(SideBySide.written, .writeWithoutResponse, .writeable),
            Self.characteristic(SideBySide.tally, .read, .readable),
        ]
        unpublished = SideBySide.others.services + 1
        for number in 0..<SideBySide.others.services {
            let other = CBMutableService(type: CBUUID(string: "AA\(number)0"), primary: true)
            other.characteristics = (0..<SideBySide.others.characteristics).map {
                Self.characteristic(CBUUID(string: "AA\(number)\($0 + 1)"), .read, .readable)
            }
            peripheral.add(other)
        }
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        unpublished -= 1
        guard unpublished == 0 else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [SideBySide.service], CBAdvertisementDataLocalNameKey: "Measured",
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        SideBySide.say("advertising")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        // BlueZ does not advertise while connected; Apple's system does, and each advertisement shortens a connection
        // event.
        peripheral.stopAdvertising()
        value = Data(repeating: 0x55, count: central.maximumUpdateValueLength)
        pump()
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) { value = nil }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { pump() }

    private func pump() {
        while let value, manager.updateValue(value, for: notified, onSubscribedCentrals: nil) {}
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests { written.take(request.value?.count ?? 0) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let numbers = [UInt64(written.octets), written.duration]
        request.value = Data(
            numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        )
        if request.characteristic.uuid == SideBySide.tally { written = OctetCount() }
        peripheral.respond(to: request, withResult: .success)
    }
}
