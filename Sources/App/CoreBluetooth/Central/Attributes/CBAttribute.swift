import Foundation
import ServiceMessages
import Synchronization

/// The base class of ``CBService``, ``CBCharacteristic`` and ``CBDescriptor`` (behaviour 0.1).
///
/// Properties may be read from any thread. Those of a peripheral's attributes change on the manager's queue, right
/// before the delegate is called.
open class CBAttribute: NSObject, @unchecked Sendable {
    // Safe: immutable here. Subclasses keep their mutable state in a mutex.
    private let type: CBUUID
    let keyValues = LazyKeyValueObservers()
    /// The handle of a remote attribute; 0 for a local one.
    package let handle: AttributeHandle

    init(uuid: CBUUID, handle: AttributeHandle) {
        type = uuid
        self.handle = handle
        super.init()
    }

    /// The UUID of the attribute's type.
    open var uuid: CBUUID { type }

    /// Returns the value of a property by the name that Objective-C has for it. Nil if there is no such property.
    func value(named name: String) -> Any?? {
        switch name {
        case "UUID": uuid
        default: nil
        }
    }
}

extension CBAttribute: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBAttribute: KeyValueObserved {}
