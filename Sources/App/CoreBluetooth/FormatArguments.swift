import Foundation

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
