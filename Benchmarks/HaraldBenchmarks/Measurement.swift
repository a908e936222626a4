import CAllocations
import Dispatch

/// The time and the allocations of `body`. Runs it `repetitions` times and keeps the best time, because every
/// disturbance makes a measurement longer.
struct Measurement {
    /// The option for a short run that is counted rather than timed; see `Benchmarks/counts`.
    static let countOption = "--count"
    static let isCounted = CommandLine.arguments.contains(countOption)
    /// By default. In a counted run, the first repetition fills caches, and the second one counts.
    static let repetitions = isCounted ? 2 : 5

    /// The wall time in seconds, the best of the repetitions.
    var seconds: Double
    /// The number of heap allocations, the fewest of the repetitions.
    var allocations: UInt

    init(repetitions: Int = repetitions, _ body: () throws -> Void) rethrows {
        seconds = .infinity
        allocations = .max
        for _ in 0..<min(repetitions, Self.repetitions) {
            let allocationsBefore = harald_allocations()
            harald_measurement_begins()
            let start = DispatchTime.now().uptimeNanoseconds
            try body()
            let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
            harald_measurement_ends()
            seconds = min(seconds, Double(nanoseconds) / 1e9)
            allocations = min(allocations, harald_allocations() - allocationsBefore)
        }
    }

    /// How often to do a piece of work: `number` times, or a hundredth of that in a counted run.
    static func count(_ number: Int) -> Int { isCounted ? max(1, number / 100) : number }
}
