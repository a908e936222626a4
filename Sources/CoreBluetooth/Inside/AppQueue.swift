import Dispatch
import EventLoops

/// The dispatch queue of an app, as the place where the service's events come out.
package struct AppQueue: CallbackQueue {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    /// What the app gave.
    package let queue: DispatchQueue

    /// Callbacks on `queue`.
    package init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) }

    package func async(_ callback: @escaping @Sendable () -> Void) { queue.async(execute: callback) }
}
