import Foundation

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
