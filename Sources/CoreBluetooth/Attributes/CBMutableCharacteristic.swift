import Foundation
import Synchronization

/// A characteristic that this device publishes.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    private struct LocalContents: Sendable {
        var permissions: CBAttributePermissions
        var subscribedCentrals: [CBCentral]?
    }

    private let local: Mutex<LocalContents>
    /// Whether the system answers reads by itself: decided by the value at creation (behaviour 7.3).
    package let hasCachedValue: Bool

    /// A characteristic.
    ///
    /// - Parameter value: With a value the system answers reads by itself, and the characteristic must be read-only. With nil
    ///   every read and write is a request to the delegate (behaviours 7.3, 7.5).
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

    /// What clients may do with the value. Changes after publishing have no effect on what is published.
    open var permissions: CBAttributePermissions {
        get { local.withLock { $0.permissions } }
        set { local.withLock { $0.permissions = newValue } }
    }

    /// What can be done with it. Changes after publishing have no effect on what is published.
    open override var properties: CBCharacteristicProperties {
        get { super.properties }
        set { contents.withLock { $0.properties = newValue } }
    }

    /// The value. Changes after publishing send and answer nothing; use `updateValue(_:for:onSubscribedCentrals:)` and
    /// `respond(to:withResult:)` (behaviour 7.6).
    open override var value: Data? {
        get { super.value }
        set { contents.withLock { $0.value = newValue } }
    }

    /// Its descriptors, each a ``CBMutableDescriptor``. Changes after publishing have no effect on what is published.
    open override var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            for descriptor in newValue ?? [] { descriptor.contents.withLock { $0.characteristic = self } }
            contents.withLock { $0.descriptors = newValue }
        }
    }

    /// The centrals that have subscribed; nil before it is published.
    open var subscribedCentrals: [CBCentral]? { local.withLock { $0.subscribedCentrals } }

    /// Takes a central among the subscribers, or out.
    final func setSubscribed(_ central: CBCentral, _ isSubscribed: Bool) {
        local.withLock {
            let others = ($0.subscribedCentrals ?? []).filter { $0 !== central }
            $0.subscribedCentrals = isSubscribed ? others + [central] : others
        }
    }

    /// Forgets all subscribers.
    final func removeSubscribers() {
        local.withLock { $0.subscribedCentrals = [] }
    }
}
