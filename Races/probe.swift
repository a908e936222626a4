// Races/run must find no race here, unless the argument is `race`.
import Dispatch
import Synchronization

final class Counter: Sendable {
    let locked = Mutex(0)
    nonisolated(unsafe) var bare = 0
}

let counter = Counter()
let races = CommandLine.arguments.contains("race")
DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for _ in 0..<100_000 {
        counter.locked.withLock { $0 += 1 }
        if races { counter.bare += 1 }
    }
}
