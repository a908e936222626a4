import CoreBluetooth
import Foundation

/// The steps that all peripheral apps of this package share: a lamp that a central can switch, and that says whether it
/// is on. An app replaces the step in which it is better or worse.
///
/// Steps and callbacks run on the queue passed to the initializer.
open class Lamp: NSObject {
    /// The service of the lamp.
    public static let service = CBUUID(string: "6C616D70-0001-4861-7261-6C6420303031")
    /// The characteristic that switches the lamp: 1 for on, 0 for off.
    public static let toggle = CBUUID(string: "6C616D70-0002-4861-7261-6C6420303031")
    /// The characteristic that says whether the lamp is on, as 1 or 0.
    public static let light = CBUUID(string: "6C616D70-0003-4861-7261-6C6420303031")

    private let queue: DispatchQueue
    private var isOn = false
    private var manager: CBPeripheralManager?
    private var lightCharacteristic: CBMutableCharacteristic?

    /// Publishes the lamp as soon as Bluetooth is on.
    public required init(queue: DispatchQueue) {
        self.queue = queue
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    /// The characteristic by which centrals learn whether the lamp is on.
    open func makeLight() -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: Self.light, properties: [.read, .notify], value: nil, permissions: .readable)
    }

    /// The characteristic by which centrals switch the lamp.
    open func makeToggle() -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: Self.toggle,
            properties: .write,
            value: nil,
            permissions: .writeEncryptionRequired
        )
    }

    /// The step after the service was published.
    open func published(with manager: CBPeripheralManager) {}

    /// The step after the user has asked for the lamp to be found.
    open func userShares(with manager: CBPeripheralManager) {
        manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    /// The step after a central has come.
    open func centralCame(with manager: CBPeripheralManager) {
        manager.stopAdvertising()
    }

    /// The user asks for the lamp to be found. Called on other queues than that of the callbacks.
    public final func share() {
        queue.sync {
            if let manager { userShares(with: manager) }
        }
    }

    /// The user switches the lamp. Called on other queues than that of the callbacks.
    public final func flip() {
        queue.sync {
            isOn.toggle()
            guard let manager, let lightCharacteristic else { return }
            manager.updateValue(state, for: lightCharacteristic, onSubscribedCentrals: nil)
        }
    }

    private var state: Data { Data([isOn ? 1 : 0]) }
}

extension Lamp: CBPeripheralManagerDelegate {
    /// Publishes the service as soon as Bluetooth is on.
    public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let light = makeLight()
        lightCharacteristic = light
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [makeToggle(), light]
        peripheral.add(service)
    }

    /// Waits for the user, or not.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if error == nil { published(with: peripheral) }
    }

    /// Answers with the state of the lamp.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        centralCame(with: peripheral)
        request.value = state
        peripheral.respond(to: request, withResult: .success)
    }

    /// Switches the lamp as the central asks.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        centralCame(with: peripheral)
        guard let first = requests.first else { return }
        isOn = first.value?.first == 1
        peripheral.respond(to: first, withResult: .success)
    }

    /// Needs no further centrals.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        centralCame(with: peripheral)
    }
}
