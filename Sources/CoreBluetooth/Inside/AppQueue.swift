import DequeModule
import Dispatch
import EventLoops
import Synchronization

/// The dispatch queue of an app, as the place where the service's events come out.
///
/// What comes while the app is behind is called in one go, as from a queue of the system's own whose target the app's queue is.
/// A source calls for that: each of Dispatch's threads keeps a thousand of the blocks that it has run, and there is no block for
/// each event.
package final class AppQueue: CallbackQueue {
    /// Callbacks that are called in one go; then whatever else is on the queue has its turn.
    package static let longestBurst = 64

    /// A struct, since a closure in a collection is wrapped otherwise, at the cost of an allocation.
    private struct Callback {
        let run: @Sendable () -> Void
    }

    private struct State {
        var waiting = Deque<Callback>()
        /// This queue, as long as something is to be called.
        var isCalling: AppQueue?
    }

    /// What the app gave.
    package let queue: DispatchQueue
    // A key for each: `DispatchQueue.main` is another object each time it is asked for, so that what a queue carries cannot be
    // told by the object.
    private let key = DispatchSpecificKey<Bool>()
    // Safe: Dispatch lets any thread add to a source, and cancel it.
    nonisolated(unsafe) private let source: any DispatchSourceUserDataAdd
    private let state = Mutex(State())

    /// Callbacks on `queue`.
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

    /// The next callback. After the last one nothing holds this queue any more but whoever made it.
    private func next() -> Callback? {
        state.withLock {
            if $0.waiting.isEmpty { $0.isCalling = nil }
            return $0.waiting.popFirst()
        }
    }
}
