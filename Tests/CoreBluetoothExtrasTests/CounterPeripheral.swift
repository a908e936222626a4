import Synchronization

/// A number that tasks count up.
final class CounterPeripheral: Sendable {
    private let count = Mutex(0)

    func add() { _ = next() }

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    var value: Int { count.withLock { $0 } }
}
