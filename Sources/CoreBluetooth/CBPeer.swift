import Foundation

/// A device on the other side.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
    // Safe: immutable here; subclasses keep what changes in a mutex.
    private let id: UUID

    init(identifier: UUID) {
        id = identifier
        super.init()
    }

    /// What this host calls the device. Another host has another identifier for it, and it says nothing about its address
    /// (behaviour 6.19).
    open var identifier: UUID { id }

    /// The object itself: it stands for one device.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
