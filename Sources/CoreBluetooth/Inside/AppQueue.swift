import DequeModule
import Dispatch
import EventLoops
import Synchronization

/// The dispatch queue of an app, as the place where the service's events come out.
package final class AppQueue: CallbackQueue {
    /// What the app gave.
    package let queue: DispatchQueue
    // A key for each: `DispatchQueue.main` is another object each time it is asked for, so that what a queue carries cannot be
    // told by the object.
    private let key = DispatchSpecificKey<Bool>()
    private let waiting: Waiting
    // One block for all callbacks, since to make one costs more than to run it.
    private let runNext: @Sendable @convention(block) () -> Void

    /// What is to be called, in order: a block of the queue for each.
    private final class Waiting: Sendable {
        /// A struct, since a closure in a collection is wrapped otherwise.
        private struct Callback {
            let run: @Sendable () -> Void
        }

        private let callbacks = Mutex(Deque<Callback>())

        func add(_ callback: @escaping @Sendable () -> Void) {
            callbacks.withLock { $0.append(Callback(run: callback)) }
        }

        func runNext() {
            callbacks.withLock { $0.popFirst() }?.run()
        }
    }

    /// Callbacks on `queue`.
    package init(_ queue: DispatchQueue) {
        self.queue = queue
        let waiting = Waiting()
        self.waiting = waiting
        runNext = { waiting.runNext() }
        queue.setSpecific(key: key, value: true)
    }

    deinit {
        queue.setSpecific(key: key, value: nil)
    }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    package func async(_ callback: @escaping @Sendable () -> Void) {
        waiting.add(callback)
        queue.async(execute: runNext)
    }
}
