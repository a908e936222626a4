public import Foundation

// With Objective-C every value of Foundation is an object that `%@` can print. On Linux each type has to conform
// explicitly. Arrays and the classes of Core Bluetooth do so in CoreBluetooth.

extension Data: @retroactive CVarArg {}
extension Data: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Date: @retroactive CVarArg {}
extension Date: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension URL: @retroactive CVarArg {}
extension URL: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension UUID: @retroactive CVarArg {}
extension UUID: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Dictionary: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
extension Dictionary: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
}

extension NSNumber: @retroactive CVarArg {}
extension NSNumber: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension NSError: @retroactive CVarArg {}
extension NSError: @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSString(string: description) }
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
