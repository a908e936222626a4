import CoreBluetooth
import Foundation

/// An app that publishes one protected value, and notifies its subscribers.
final class QuirkSensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: everything is accessed on the manager's queue only, where the callbacks arrive.

    static let service = CBUUID(string: "71756972-0000-4861-7261-6C6420303031")
    static let email = CBUUID(string: "71756972-0001-4861-7261-6C6420303031")
    static let value = Data("me@example.org".utf8)

    private let queue = DispatchQueue(label: "sensor")
    private var manager: CBPeripheralManager!
    private var characteristic: CBMutableCharacteristic?

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.removeAllServices()
        let email = CBMutableCharacteristic(
            type: QuirkSensor.email,
            properties: [.read, .notifyEncryptionRequired],
            value: nil,
            permissions: .readEncryptionRequired
        )
        characteristic = email
        let service = CBMutableService(type: QuirkSensor.service, primary: true)
        service.characteristics = [email]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [QuirkSensor.service]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Self.value
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        guard let email = self.characteristic else { return }
        _ = peripheral.updateValue(Self.value, for: email, onSubscribedCentrals: [central])
    }
}
