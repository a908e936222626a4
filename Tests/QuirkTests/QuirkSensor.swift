import AppStandIns
import CoreBluetooth
import Foundation

/// An app that publishes one protected value, and notifies its subscribers.
final class QuirkSensor: PeripheralStandIn, @unchecked Sendable {
    static let service = CBUUID(string: "71756972-0000-4861-7261-6C6420303031")
    static let email = CBUUID(string: "71756972-0001-4861-7261-6C6420303031")
    static let value = Data("me@example.org".utf8)

    private let protected = CBMutableCharacteristic(
        QuirkSensor.email,
        [.read, .notifyEncryptionRequired],
        isEncrypted: true
    )

    init() { super.init(service: Self.service, [protected]) }

    override func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheral.state == .poweredOn { peripheral.removeAllServices() }
        super.peripheralManagerDidUpdateState(peripheral)
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Self.value
        peripheral.respond(to: request, withResult: .success)
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        _ = peripheral.updateValue(Self.value, for: protected, onSubscribedCentrals: [central])
    }
}
