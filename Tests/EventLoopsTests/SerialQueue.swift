import Dispatch
import EventLoops

/// A dispatch queue as a callback queue.
struct SerialQueue: CallbackQueue {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) }

    func async(_ callback: @escaping @Sendable () -> Void) { queue.async(execute: callback) }

    func sync(_ body: () -> Void) { queue.sync(execute: body) }
}
