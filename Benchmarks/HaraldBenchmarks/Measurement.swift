import CAllocations
import Dispatch

/// The time and the allocations of `body`. Runs it `repetitions` times and keeps the best time, because every
/// disturbance makes a measurement longer.
struct Measurement {
    /// The wall time in seconds, the best of the repetitions.
    var seconds: Double
    /// The number of heap allocations, the fewest of the repetitions.
    var allocations: UInt

    init(repetitions: Int = 5, _ body: () throws -> Void) rethrows {
        seconds = .infinity
        allocations = .max
        for _ in 0..<repetitions {
            let allocationsBefore = harald_allocations()
            let start = DispatchTime.now().uptimeNanoseconds
            try body()
            let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
            seconds = min(seconds, Double(nanoseconds) / 1e9)
            allocations = min(allocations, harald_allocations() - allocationsBefore)
        }
    }
}
