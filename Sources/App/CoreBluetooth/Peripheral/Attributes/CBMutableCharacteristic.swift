import Foundation
import Synchronization

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

    /// Adds a central to the subscribers, or removes it.
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
