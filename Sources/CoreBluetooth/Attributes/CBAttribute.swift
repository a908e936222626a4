import BluetoothService
import Foundation

/// A service, characteristic or descriptor.
open class CBAttribute: NSObject, @unchecked Sendable {
    // Safe: immutable here; subclasses keep what changes in a mutex.
    private let type: CBUUID
    /// Where a peer has it; 0 for a local attribute.
    package let handle: AttributeHandle

    init(uuid: CBUUID, handle: AttributeHandle) {
        type = uuid
        self.handle = handle
        super.init()
    }

    /// Says what kind of service, characteristic or descriptor it is.
    open var uuid: CBUUID { type }
}
