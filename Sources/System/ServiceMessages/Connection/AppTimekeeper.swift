import EventLoops

/// The time of a simulated app, for code of the app that measures time and waits without the world's own clock.
///
/// `VirtualAppTime` lets the system's calls use it. All members may be used from any thread.
public final class AppTimekeeper: Sendable {
    /// The part that a simulation provides.
    public protocol Source: AnyObject, Sendable {
        /// The app's connection; nil if its process has ended.
        var connection: (any ServiceConnection)? { get }
        /// The time since the world began. It stands still while code of an app runs.
        var now: Instant { get }
        /// The calendar time at which the world began, in nanoseconds since the beginning of 1970, UTC.
        var calendarStart: Int64 { get }
        /// Calls `body` on the world's loop, once the time has passed and the app is not suspended. Releases it without
        /// a call if the process ends before.
        ///
        /// - Returns: A closure that cancels the call, from any thread.
        func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
        /// Calls `body` on a queue in order with other callbacks of the world, while its clock stands still.
        func deliver(on queue: any CallbackQueue, _ body: @escaping @Sendable () -> Void)
        /// Notes that work of the app begins, for which the world's clock has to wait.
        func beginWork()
        /// Notes that work of the app has ended.
        func endWork()
        /// Lets the world's clock stand still while this thread runs, and go on while it waits.
        func beginThread()
        /// Notes that this thread ends.
        func endThread()
        /// Reports that the app waits by the clock of the machine.
        func noteWait(_ function: String)
    }

    /// See ``Source``.
    public let source: any Source

    /// Creates the timekeeper of one process of an app.
    public init(_ source: any Source) {
        self.source = source
    }
}
