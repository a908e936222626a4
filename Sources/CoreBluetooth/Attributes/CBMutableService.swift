import Foundation
import Synchronization

/// A service that this device publishes.
open class CBMutableService: CBService, @unchecked Sendable {
    // Safe: adds no state.

    /// A service without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, handle: 0, isPrimary: isPrimary, peripheral: nil)
    }

    /// Its characteristics, each a ``CBMutableCharacteristic``. Changes after publishing have no effect on what is published
    /// (behaviour 7.2).
    open override var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            for characteristic in newValue ?? [] { characteristic.contents.withLock { $0.service = self } }
            contents.withLock { $0.characteristics = newValue }
        }
    }

    /// The services that it includes; each has to be published before this one. Changes after publishing have no effect on
    /// what is published.
    open override var includedServices: [CBService]? {
        get { super.includedServices }
        set { contents.withLock { $0.includedServices = newValue } }
    }
}
