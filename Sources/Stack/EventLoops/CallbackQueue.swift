/// A serial queue on which an app receives its callbacks, in order of submission and on any thread.
///
/// The API layer adapts the queue that the app supplied. The layers below only use this protocol.
public protocol CallbackQueue: Sendable {
    /// Whether the caller runs on this queue.
    ///
    /// Waiting for a callback on the queue's own thread would deadlock.
    var isCurrent: Bool { get }

    /// Whether submitted callbacks get to run.
    ///
    /// A loop does not wait for a callback on a queue that is not running. Defaults to `true`.
    var isRunning: Bool { get }

    /// The name of the queue, which identifies it in messages; empty without one.
    var label: String { get }

    /// Submits `callback` to run after those before it, and returns without waiting.
    ///
    /// Callable from any thread. A queue that will never run the callback releases it, which ends any wait for it.
    func async(_ callback: @escaping @Sendable () -> Void)
}

extension CallbackQueue {
    /// The default, for a queue that always runs its callbacks.
    public var isRunning: Bool { true }

    /// The default, for a queue without a name.
    public var label: String { "" }
}
