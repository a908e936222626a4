import DequeModule
import Dispatch
import EventLoops
import Synchronization

/// A dispatch queue of an app, on which the service's events are delivered.
///
/// When the app falls behind, pending callbacks run in bursts, as they would from a private queue of the system that
/// targets the app's queue. The implementation is a dispatch source instead of a block for each event, since each of
/// Dispatch's threads keeps a thousand of the blocks that it has run.
package final class AppQueue: CallbackQueue {
    /// The number of callbacks in one burst; then other work on the queue has its turn.
    package static let longestBurst = 64

    /// A struct, because a closure in a collection is wrapped otherwise, at the cost of an allocation.
    private struct Callback {
        let run: @Sendable () -> Void
    }

    private struct State {
        var waiting = Deque<Callback>()
        /// This queue, while callbacks are pending.
        var isCalling: AppQueue?
    }

    /// The queue that the app specified.
    package let queue: DispatchQueue
    // A key for each instance. `DispatchQueue.main` is another object each time it is read, so that the object does not
    // identify the queue.
    private let key = DispatchSpecificKey<Bool>()
    // Safe: Dispatch allows any thread to add to a source and to cancel it.
    nonisolated(unsafe) private let source: any DispatchSourceUserDataAdd
    private let state = Mutex(State())

    /// Creates a callback queue on `queue`.
    package init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: true)
        source = DispatchSource.makeUserDataAddSource(queue: queue)
        source.setEventHandler { [unowned self] in
            for _ in 0..<Self.longestBurst {
                guard let next = next() else { return }
                next.run()
            }
            source.add(data: 1)
        }
        source.activate()
    }

    package var label: String { queue.label }

    deinit {
        source.cancel()
        queue.setSpecific(key: key, value: nil)
    }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    package func async(_ callback: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.waiting.append(Callback(run: callback))
            defer { state.isCalling = self }
            return state.isCalling == nil
        }
        if isIdle { source.add(data: 1) }
    }

    /// Returns the next callback. After the last one, only the creator of this queue still retains it.
    private func next() -> Callback? {
        state.withLock {
            if $0.waiting.isEmpty { $0.isCalling = nil }
            return $0.waiting.popFirst()
        }
    }
}
