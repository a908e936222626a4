import Foundation
import Synchronization

/// A remote device, in whichever role it has: the base class of ``CBPeripheral`` and ``CBCentral``.
///
/// Peers can be keys of a dictionary (behaviour 0.7). They may be used from any thread.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
    // Safe: immutable here. Subclasses keep their mutable state in a mutex.
    private let id: UUID
    let keyValues = LazyKeyValueObservers()

    init(identifier: UUID) {
        id = identifier
        super.init()
    }

    /// The identifier by which this host refers to the device.
    ///
    /// It stays the same over launches and restarts as long as the device has the same address or, where the two are
    /// paired, as long as the bond lasts (behaviours 6.19, 11.3). Another host has another identifier for the same
    /// device. The identifier reveals nothing about the device's address (behaviour 6.19).
    open var identifier: UUID { id }

    /// Returns the value of a property by the name that Objective-C has for it. Nil if there is no such property.
    func value(named name: String) -> Any?? {
        switch name {
        case "identifier": identifier
        default: nil
        }
    }

    /// Returns the object itself, since one object stands for one device (behaviour 0.7).
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CBPeer: KeyValueObserved {}

// With Objective-C every object can be an argument for `%@`, as in `NSLog("%@", peripheral)`. On Linux each class has
// to conform explicitly: CBManager and CBPeer here, the others beside their declarations. The description is printed.

extension CBManager: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBPeer: _CVarArgObject {
    /// The description as an argument for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

// With Objective-C an array is an object as well, as in `NSLog("%@", uuids as CVarArg)`.

extension Array: @retroactive CVarArg where Element: CVarArg {
    /// The printed elements in the layout of a variadic argument.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Array: @retroactive _CVarArgObject where Element: CVarArg {
    /// The elements, one to a line between parentheses, as Apple's systems print arrays.
    public var _cVarArgObject: any CVarArg {
        NSString(string: isEmpty ? "(\n)" : "(\n    \(map { "\($0)" }.joined(separator: ",\n    "))\n)")
    }
}
