import CoreBluetooth
public import Dispatch
import Foundation
// On Apple's systems URLSession is a part of Foundation.
@_exported import FoundationNetworking
// And `@Observable` needs no import there but Foundation's.
@_exported import Observation

// Foundation brings these along on Apple's systems.
@_exported import typealias CoreFoundation.CFAbsoluteTime
@_exported import func CoreFoundation.CFAbsoluteTimeGetCurrent
@_exported import typealias CoreFoundation.CFTimeInterval

public let NSEC_PER_SEC: UInt64 = 1_000_000_000
public let NSEC_PER_MSEC: UInt64 = 1_000_000
public let NSEC_PER_USEC: UInt64 = 1_000
public let USEC_PER_SEC: UInt64 = 1_000_000
public let MSEC_PER_SEC: UInt64 = 1_000

public typealias OSStatus = Int32

/// Runs something. There is no pool here: objects go when nobody holds them.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// Seconds that the machine has been up, as Core Animation counts.
public func CACurrentMediaTime() -> Double {
    Double(DispatchTime.now().uptimeNanoseconds) / 1e9
}

/// Nanoseconds that the machine has been up: a tick is one here.
public func mach_absolute_time() -> UInt64 {
    DispatchTime.now().uptimeNanoseconds
}

extension DispatchTime {
    /// How long it is from this time to another.
    public func distance(to other: DispatchTime) -> DispatchTimeInterval {
        guard self != .distantFuture, other != .distantFuture else { return .never }
        return .nanoseconds(Int(truncatingIfNeeded: Int64(bitPattern: other.uptimeNanoseconds &- uptimeNanoseconds)))
    }

    /// The time that is so much later.
    public func advanced(by interval: DispatchTimeInterval) -> DispatchTime {
        self + interval
    }
}
