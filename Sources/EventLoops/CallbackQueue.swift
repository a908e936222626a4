/// A serial queue on which an app receives its callbacks, in order of submission and on any thread.
///
/// The API layer adapts the queue that the app supplied. The layers below only use this protocol.
public protocol CallbackQueue: Sendable {
    /// Whether the caller runs on this queue. Waiting for a callback there would deadlock.
    var isCurrent: Bool { get }

    /// Whether submitted callbacks get to run. A loop does not wait for a callback on a queue that is not running.
    var isRunning: Bool { get }

    /// Submits `callback` to run after those before it, and returns without waiting. From any thread.
    ///
    /// A queue that will never run the callback releases it, which ends any wait for it.
    func async(_ callback: @escaping @Sendable () -> Void)
}

extension CallbackQueue {
    /// Defaults to `true`.
    public var isRunning: Bool { true }
}
