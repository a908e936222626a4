import BluetoothTypes
import Foundation
import Synchronization

/// A service that this device publishes.
///
/// Publishing copies the object: later changes to it have no effect on what clients see (behaviour 7.2).
///
/// Properties may be read and set from any thread.
open class CBMutableService: CBService, @unchecked Sendable {
    // Safe: adds no state.

    /// Creates a service without characteristics.
    ///
    /// - Parameters:
    ///   - UUID: The UUID of the service.
    ///   - isPrimary: Whether the service describes a main function of the device. A secondary service has a meaning
    ///     only where another service includes it (behaviour 0.6).
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, handle: 0, isPrimary: isPrimary, peripheral: nil)
    }

    /// The characteristics, each a ``CBMutableCharacteristic``. Changes after publishing have no effect
    /// (behaviour 7.2).
    open override var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            for characteristic in newValue ?? [] { characteristic.setService(self) }
            setCharacteristics(newValue)
        }
    }

    /// The included services. Each has to be published before this one (behaviour 7.9). Changes after publishing have
    /// no effect (behaviour 7.2).
    open override var includedServices: [CBService]? {
        get { super.includedServices }
        set { setIncludedServices(newValue) }
    }
}

/// A characteristic that this device publishes.
///
/// Publishing copies the object: later changes to it have no effect on what clients see (behaviour 7.2).
///
/// Properties may be read and set from any thread.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct LocalContents: Sendable {
        var permissions: CBAttributePermissions
        var subscribedCentrals: [CBCentral]?
    }

    private let local: Mutex<LocalContents>
    /// Whether the system answers reads without asking the app. Determined by the value at creation (behaviour 7.3).
    package let hasCachedValue: Bool

    /// Creates a characteristic.
    ///
    /// - Parameters:
    ///   - UUID: The UUID of the characteristic's type.
    ///   - properties: The operations that it supports, without `broadcast` and `extendedProperties` (behaviour 7.7).
    ///   - value: With a value, the system answers reads without asking the app, and the characteristic must be
    ///     read-only when it is published. With nil, the delegate receives every read and write (behaviours 7.3, 7.5).
    ///   - permissions: The access that clients have to the value.
    public init(
        type UUID: CBUUID,
        properties: CBCharacteristicProperties,
        value: Data?,
        permissions: CBAttributePermissions
    ) {
        local = Mutex(LocalContents(permissions: permissions))
        hasCachedValue = value != nil
        super.init(uuid: UUID, handle: 0, properties: properties, value: value, service: nil)
    }

    /// The access that clients have to the value. Changes after publishing have no effect (behaviour 7.2).
    open var permissions: CBAttributePermissions {
        get { local.withLock { $0.permissions } }
        set { local.withLock { $0.permissions = newValue } }
    }

    /// The operations that the characteristic supports. Changes after publishing have no effect (behaviour 7.2).
    open override var properties: CBCharacteristicProperties {
        get { super.properties }
        set { setProperties(newValue) }
    }

    /// The value.
    ///
    /// Changes after publishing neither notify subscribers nor answer requests;
    /// ``CBPeripheralManager/updateValue(_:for:onSubscribedCentrals:)`` and
    /// ``CBPeripheralManager/respond(to:withResult:)`` do (behaviour 7.6).
    open override var value: Data? {
        get { super.value }
        set { setValue(newValue) }
    }

    /// The descriptors, each a ``CBMutableDescriptor``. Changes after publishing have no effect (behaviour 7.2).
    open override var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            for descriptor in newValue ?? [] { descriptor.setCharacteristic(self) }
            setDescriptors(newValue)
        }
    }

    /// The centrals that are subscribed (behaviour 7.40). Nil before the characteristic is published.
    open var subscribedCentrals: [CBCentral]? { local.withLock { $0.subscribedCentrals } }

    final func setSubscribed(_ central: CBCentral, _ isSubscribed: Bool) {
        local.withLock {
            let others = ($0.subscribedCentrals ?? []).filter { $0 !== central }
            $0.subscribedCentrals = isSubscribed ? others + [central] : others
        }
    }

    final func removeSubscribers() {
        local.withLock { $0.subscribedCentrals = [] }
    }
}

/// A descriptor that this device publishes. Its value cannot change (behaviour 7.8).
///
/// Properties may be read from any thread.
open class CBMutableDescriptor: CBDescriptor, @unchecked Sendable {
    // Safe: adds no state.

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - UUID: The UUID of the descriptor's type.
    ///   - value: The value, a `String` for 2901 and a `Data` for 2904.
    /// - Precondition: The descriptor is a User Description (2901) with a `String`, or a Presentation Format (2904)
    ///   with a `Data`. The system creates the other descriptors from the properties of the characteristic
    ///   (behaviour 7.8).
    public init(type UUID: CBUUID, value: Any?) {
        super.init(uuid: UUID, handle: 0, octets: Self.octets(of: value, for: UUID), characteristic: nil)
    }

    /// Creates a descriptor of any type, for systems that publish more than Apple's.
    package init(unchecked type: CBUUID, octets: [UInt8]) {
        super.init(uuid: type, handle: 0, octets: Data(octets), characteristic: nil)
    }

    private static func octets(of value: Any?, for type: CBUUID) -> Data {
        switch type.uuid {
        case 0x2901:
            guard let text = value as? String else {
                preconditionFailure("Expecting a String value for a User Description descriptor (2901)")
            }
            return Data(text.utf8)
        case 0x2904:
            guard let data = value as? Data else {
                preconditionFailure("Expecting a Data value for a Format descriptor (2904)")
            }
            return data
        default:
            preconditionFailure(
                """
                A descriptor of type \(type.uuidString) cannot be created. Only 2901 and 2904 can; the system creates \
                2900 and 2902 from the characteristic's properties.
                """
            )
        }
    }
}
