import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// A characteristic of a service: a value and the operations that it supports.
///
/// Characteristics of a peripheral are found by ``CBPeripheral/discoverCharacteristics(_:for:)``. Such an object is
/// valid until its service changes or the connection ends (behaviours 3.14, 4.13).
///
/// Properties may be read from any thread. Those of a peripheral's characteristic change on the manager's queue, right
/// before the delegate is called.
open class CBCharacteristic: CBAttribute, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct Contents: Sendable {
        weak var service: CBService?
        var properties: CBCharacteristicProperties
        var value: Data?
        var descriptors: [CBDescriptor]?
        var isNotifying = false
    }

    private let contents: Mutex<Contents>

    init(
        uuid: CBUUID,
        handle: AttributeHandle,
        properties: CBCharacteristicProperties,
        value: Data?,
        service: CBService?
    ) {
        contents = Mutex(Contents(service: service, properties: properties, value: value))
        super.init(uuid: uuid, handle: handle)
    }

    /// The service that contains the characteristic. Nil once that object has been released, since the reference is
    /// weak (behaviour 13.7).
    open var service: CBService? { contents.withLock { $0.service } }

    /// The operations that the characteristic supports, as its declaration lists them (Core Vol 3 Part G 3.3.1.1).
    open var properties: CBCharacteristicProperties { contents.withLock { $0.properties } }

    /// The last value that was read, notified or indicated.
    ///
    /// The value may be one that another app of this device has read before (behaviour 4.9). It is nil if there is
    /// none. The next notification overwrites it (behaviour 5.20).
    open var value: Data? { contents.withLock { $0.value } }

    /// The descriptors discovered so far. Nil until a discovery has succeeded (behaviour 4.3).
    open var descriptors: [CBDescriptor]? { contents.withLock { $0.descriptors } }

    /// Whether this app is subscribed to notifications or indications of the value.
    ///
    /// It changes right before the delegate receives `peripheral(_:didUpdateNotificationStateFor:error:)`
    /// (behaviour 4.17), and becomes false when the connection ends (behaviour 5.19).
    open var isNotifying: Bool { contents.withLock { $0.isNotifying } }

    /// Always false, since broadcasting a characteristic is not supported.
    open var isBroadcasted: Bool { false }

    // MARK: Changes

    final func setService(_ service: CBService) {
        contents.withLock { $0.service = service }
    }

    final func setProperties(_ properties: CBCharacteristicProperties) {
        contents.withLock { $0.properties = properties }
    }

    final func setValue(_ value: Data?) {
        contents.withLock { $0.value = value }
        keyValues.check()
    }

    final func setDescriptors(_ descriptors: [CBDescriptor]?) {
        contents.withLock { $0.descriptors = descriptors }
    }

    /// Adds the discovered descriptors that are new.
    final func add(descriptors: [CBDescriptor]) {
        contents.withLock { $0.descriptors = ($0.descriptors ?? []).adding(descriptors) }
    }

    final func setNotifying(_ isNotifying: Bool) {
        contents.withLock { $0.isNotifying = isNotifying }
    }

    override func value(named name: String) -> Any?? {
        switch name {
        case "service": .some(service)
        case "properties": properties.rawValue
        case "value": .some(value)
        case "descriptors": .some(descriptors)
        case "isNotifying": isNotifying
        default: super.value(named: name)
        }
    }

    /// The class, UUID, properties, value and subscription state.
    open override var description: String {
        let (properties, value, isNotifying) = contents.withLock { ($0.properties, $0.value, $0.isNotifying) }
        return "<\(nameAndAddress), UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), "
            + "value = \(value.octetText), notifying = \(isNotifying ? "YES" : "NO")>"
    }
}

extension Data? {
    /// The octets in the format in which Apple's systems print data: `{length = 2, bytes = 0x1650}`, or `(null)`.
    var octetText: String {
        guard let self else { return "(null)" }
        return "{length = \(self.count), bytes = 0x\(hexadecimal(self))}"
    }
}
