import CAllocations
import Dispatch

/// Times `body` and counts what it allocates. Runs it `repetitions` times and keeps the best time, since everything that
/// disturbs a measurement makes it longer.
struct Measurement {
    /// Seconds of wall time, the best of the repetitions.
    var seconds: Double
    /// Heap allocations, the fewest of the repetitions.
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
