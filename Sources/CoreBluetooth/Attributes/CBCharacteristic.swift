import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// A characteristic of a service: a value, and what can be done with it.
open class CBCharacteristic: CBAttribute, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: Sendable {
        weak var service: CBService?
        var properties: CBCharacteristicProperties
        var value: Data?
        var descriptors: [CBDescriptor]?
        var isNotifying = false
    }

    let contents: Mutex<Contents>

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

    /// The service that has it; nil when that object is gone.
    open var service: CBService? { contents.withLock { $0.service } }

    /// What can be done with it.
    open var properties: CBCharacteristicProperties { contents.withLock { $0.properties } }

    /// The value that was last read, notified or indicated; nil before.
    open var value: Data? { contents.withLock { $0.value } }

    /// The descriptors found so far; nil before the first discovery has succeeded.
    open var descriptors: [CBDescriptor]? { contents.withLock { $0.descriptors } }

    /// Whether notifications or indications of it come to this app.
    open var isNotifying: Bool { contents.withLock { $0.isNotifying } }

    /// Always false: broadcasting characteristics are not supported.
    open var isBroadcasted: Bool { false }

    /// Class, UUID, properties, value and subscription.
    open override var description: String {
        let (properties, value, isNotifying) = contents.withLock { ($0.properties, $0.value, $0.isNotifying) }
        return "<\(nameAndAddress), UUID = \(uuid), properties = 0x\(String(properties.rawValue, radix: 16)), "
            + "value = \(value.octetText), notifying = \(isNotifying ? "YES" : "NO")>"
    }
}

extension Data? {
    /// As Apple's systems print data: `{length = 2, bytes = 0x1650}`, or `(null)`.
    var octetText: String {
        guard let self else { return "(null)" }
        return "{length = \(self.count), bytes = 0x\(hexadecimal(self))}"
    }
}
