import CoreBluetooth
import CoreFoundation
import Foundation
import os

/// The time between values, for a view.
@Observable public final class Pace {
    public private(set) var interval: CFTimeInterval?
    @ObservationIgnored private let last = OSAllocatedUnfairLock<CFAbsoluteTime?>(initialState: nil)

    public init() {}

    func note(at time: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()) {
        let before = last.withLock { last in
            defer { last = time }
            return last
        }
        interval = before.map { time - $0 }
    }
}
