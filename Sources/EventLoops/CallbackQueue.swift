/// Where an app is called back: callbacks run one after the other, in the order in which they came, on whatever thread. The API
/// above makes one of what the app gave it; nothing below knows what it is.
public protocol CallbackQueue: Sendable {
    /// Whether the caller runs on this queue. Whoever waited there for a callback would wait for himself.
    var isCurrent: Bool { get }

    /// Whether callbacks come to be run. Nobody waits for one on a queue that stands still.
    var isRunning: Bool { get }

    /// Runs `callback` after those before it, and does not wait for that. From any thread. A queue that will not run it any more
    /// lets go of it, which tells whoever waits for it.
    func async(_ callback: @escaping @Sendable () -> Void)
}

extension CallbackQueue {
    /// They do.
    public var isRunning: Bool { true }
}
