// Apple's module map re-exports its imports, so `import CoreBluetooth` also brings in Foundation and Dispatch.
@_exported import CCoreBluetooth
@_exported import Dispatch
@_exported import Foundation

// On Apple's systems Foundation brings these along. They are the same declarations as CoreFoundation's, so an app that
// imports both has no ambiguity.
@_exported import typealias CoreFoundation.CFAbsoluteTime
@_exported import func CoreFoundation.CFAbsoluteTimeGetCurrent
@_exported import typealias CoreFoundation.CFTimeInterval

/// A dispatch queue, by the name that Apple's signatures use.
public typealias dispatch_queue_t = DispatchQueue
