import CoreBluetooth
public import Dispatch
import Foundation
// On Apple's systems URLSession is part of Foundation.
@_exported import FoundationNetworking
// There, `@Observable` needs no import other than Foundation.
@_exported import Observation

// On Apple's systems Foundation brings these along.
@_exported import typealias CoreFoundation.CFAbsoluteTime
@_exported import func CoreFoundation.CFAbsoluteTimeGetCurrent
@_exported import typealias CoreFoundation.CFTimeInterval

public let NSEC_PER_SEC: UInt64 = 1_000_000_000
public let NSEC_PER_MSEC: UInt64 = 1_000_000
public let NSEC_PER_USEC: UInt64 = 1_000
public let USEC_PER_SEC: UInt64 = 1_000_000
public let MSEC_PER_SEC: UInt64 = 1_000

public typealias OSStatus = Int32

/// Calls `body`. There is no pool on Linux: objects are released when their last reference goes.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// The uptime of the machine in seconds, the time base of Core Animation.
public func CACurrentMediaTime() -> Double {
    Double(DispatchTime.now().uptimeNanoseconds) / 1e9
}

/// The uptime of the machine in nanoseconds: a tick is one nanosecond here.
public func mach_absolute_time() -> UInt64 {
    DispatchTime.now().uptimeNanoseconds
}

extension DispatchTime {
    /// Returns the interval from this time to another one.
    public func distance(to other: DispatchTime) -> DispatchTimeInterval {
        guard self != .distantFuture, other != .distantFuture else { return .never }
        return .nanoseconds(Int(truncatingIfNeeded: Int64(bitPattern: other.uptimeNanoseconds &- uptimeNanoseconds)))
    }

    /// Returns the time that is later by an interval.
    public func advanced(by interval: DispatchTimeInterval) -> DispatchTime {
        self + interval
    }
}
