// Apple's module map re-exports what it imports, so `import CoreBluetooth` brings Foundation and Dispatch along.
@_exported import CCoreBluetooth
@_exported import Dispatch
@_exported import Foundation

// Foundation brings these along on Apple's systems. The same ones, so that they are not ambiguous beside `import CoreFoundation`.
@_exported import typealias CoreFoundation.CFAbsoluteTime
@_exported import func CoreFoundation.CFAbsoluteTimeGetCurrent
@_exported import typealias CoreFoundation.CFTimeInterval

/// A queue as Apple's signatures spell it.
public typealias dispatch_queue_t = DispatchQueue
