import Dispatch
import EventLoops

/// The dispatch queue of an app, as the place where the service's events come out.
package final class AppQueue: CallbackQueue {
    /// What the app gave.
    package let queue: DispatchQueue
    // A key for each: `DispatchQueue.main` is another object each time it is asked for, so that what a queue carries cannot be
    // told by the object.
    private let key = DispatchSpecificKey<Bool>()

    /// Callbacks on `queue`.
    package init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: true)
    }

    deinit {
        queue.setSpecific(key: key, value: nil)
    }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    package func async(_ callback: @escaping @Sendable () -> Void) { queue.async(execute: callback) }
}
