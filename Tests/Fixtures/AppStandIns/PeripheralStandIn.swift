import CoreBluetooth

/// A peripheral app that publishes and advertises a service whenever Bluetooth is switched on. Subclasses answer
/// requests.
open class PeripheralStandIn: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: set once, before its callbacks.
    package private(set) var manager: CBPeripheralManager?
    private let name: String?
    private let service: CBUUID?
    private let others: [CBUUID]
    private let characteristics: [CBMutableCharacteristic]

    /// Creates the app and its manager.
    ///
    /// - Parameter others: Services to advertise beside the one it has.
    public init(
        _ name: String? = nil,
        service: CBUUID? = nil,
        _ characteristics: [CBMutableCharacteristic] = [],
        advertising others: [CBUUID] = [],
        on queue: DispatchQueue = DispatchQueue(label: "peripheral")
    ) {
        (self.name, self.service, self.others, self.characteristics) = (name, service, others, characteristics)
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    /// Sends a value to all subscribers, if the queue has room.
    package func send(_ value: [UInt8], of characteristic: CBMutableCharacteristic) {
        _ = manager?.updateValue(Data(value), for: characteristic, onSubscribedCentrals: nil)
    }

    open func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        publish()
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = name
        data[CBAdvertisementDataServiceUUIDsKey] = service.map { [$0] + others }
        peripheral.startAdvertising(data)
    }

    /// Adds the service, if there is one.
    package func publish() {
        guard let service else { return }
        let made = CBMutableService(type: service, primary: true)
        made.characteristics = characteristics
        manager?.add(made)
    }

    // A delegate method that a subclass adds is not called: the conformance of the class has those declared here.

    open func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {}

    open func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {}

    open func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {}

    open func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}

    open func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}
}

extension CBMutableCharacteristic {
    /// A characteristic whose permissions follow from its properties.
    ///
    /// - Parameter value: Its value, or nil if the app supplies it on request.
    package convenience init(
        _ uuid: CBUUID,
        _ properties: CBCharacteristicProperties,
        value: Data? = nil,
        isEncrypted: Bool = false
    ) {
        var permissions: CBAttributePermissions = []
        if properties.contains(.read) {
            permissions.formUnion(isEncrypted ? .readEncryptionRequired : .readable)
        }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
            permissions.formUnion(isEncrypted ? .writeEncryptionRequired : .writeable)
        }
        self.init(type: uuid, properties: properties, value: value, permissions: permissions)
    }
}
