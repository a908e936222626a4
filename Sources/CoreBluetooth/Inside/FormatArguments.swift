import Foundation

// With Objective-C every object can be an argument to `%@`, as in `NSLog("%@", peripheral)`. Here each class has to say so;
// what is printed is its description.

extension CBManager: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBPeer: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBAttribute: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBATTRequest: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBL2CAPChannel: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension CBUUID: _CVarArgObject {
    /// The description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    /// The description.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
