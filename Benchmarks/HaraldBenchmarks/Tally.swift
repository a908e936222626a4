import Dispatch
import Synchronization

/// Counts, and wakes whoever waits for a count: to look at it again and again would take the core from what is measured.
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

    /// Waits until the count is at `target`. One thread at a time.
    func wait(for target: Int) {
        awaited.store(target, ordering: .sequentiallyConsistent)
        if value < target || !takeBack(target) { isReached.wait() }
    }

    /// True for one alone of those who find the target reached.
    private func takeBack(_ target: Int) -> Bool {
        awaited.compareExchange(expected: target, desired: .max, ordering: .sequentiallyConsistent).exchanged
    }
}
