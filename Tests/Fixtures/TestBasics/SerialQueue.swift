import Dispatch
import EventLoops

/// A dispatch queue as a callback queue.
package struct SerialQueue: CallbackQueue {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue: DispatchQueue

    package init(_ label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) }

    package func async(_ callback: @escaping @Sendable () -> Void) { queue.async(execute: callback) }

    /// Runs `body` on the queue, and waits for it.
    package func sync(_ body: () -> Void) { queue.sync(execute: body) }
}
