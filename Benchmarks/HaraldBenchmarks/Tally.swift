import Dispatch
import Synchronization

/// A counter that wakes a thread at a given count: polling would take processor time from the measurement.
final class Tally: Sendable {
    private let count = Atomic<Int>(0)
    private let awaited = Atomic<Int>(.max)
    private let isReached = DispatchSemaphore(value: 0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add(_ number: Int = 1) {
        let new = count.add(number, ordering: .sequentiallyConsistent).newValue
        let target = awaited.load(ordering: .sequentiallyConsistent)
        if new >= target, takeBack(target) { isReached.signal() }
    }

    /// Waits until the count reaches `target`. For one thread at a time.
    func wait(for target: Int) {
        awaited.store(target, ordering: .sequentiallyConsistent)
        if value < target || !takeBack(target) { isReached.wait() }
    }

    /// Returns true for exactly one of the callers that find the target reached.
    private func takeBack(_ target: Int) -> Bool {
        awaited.compareExchange(expected: target, desired: .max, ordering: .sequentiallyConsistent).exchanged
    }
}
