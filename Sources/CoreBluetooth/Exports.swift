// Apple's module map re-exports what it imports, so `import CoreBluetooth` brings Foundation and Dispatch along.
@_exported import CCoreBluetooth
@_exported import Dispatch
@_exported import Foundation

/// A queue as Apple's signatures spell it.
public typealias dispatch_queue_t = DispatchQueue

/// Seconds since the beginning of 2001, UTC.
public typealias CFAbsoluteTime = Double

/// A time between two moments, in seconds.
public typealias CFTimeInterval = Double

/// The time by the machine's clock.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date().timeIntervalSinceReferenceDate
}
