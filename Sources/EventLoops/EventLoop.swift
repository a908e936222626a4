/// The one serial loop of a Bluetooth system: its clock, its timers, and the only thread that its state is touched on.
///
/// Everything below the API is handed a loop and keeps its state on it, without locks. ``submit(_:)`` and
/// ``deliver(on:_:)`` are the ways in and out for other threads; all else is called on the loop.
///
/// Two kinds exist: ``VirtualEventLoop`` runs as fast as it can in virtual time, and the loop of the `HCITransports` room
/// keeps pace with the wall clock and waits on descriptors. Both run tasks by ``now`` being the instant that the task was
/// due at, not the instant at which the machine came to it, so that the same code sees the same times in both.
public protocol EventLoop: AnyObject, Sendable {
    /// The time of the task that is running. It does not move while a task runs. On the loop only.
    var now: Instant { get }

    /// Whether the caller may touch the state that lives on this loop.
    var isCurrent: Bool { get }

    /// Whether the caller runs inside a task of this loop. False while nobody runs the loop, when ``isCurrent`` may be true.
    var isRunningHere: Bool { get }

    /// Runs `task` at `deadline`, or as soon as possible when that is over; tasks for one instant run in the order they
    /// were scheduled in. On the loop only.
    @discardableResult
    func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask

    /// Drops a task that has not run. Nothing happens if it has run, or was dropped before. On the loop only.
    func cancel(_ task: ScheduledTask)

    /// Runs `task` on the loop after those submitted before. From any thread; also wakes a waiting loop.
    func submit(_ task: @escaping @Sendable () -> Void)

    /// Runs `task` on the loop after all that was submitted before, and waits until it has run. From any thread but the
    /// loop's own; from there it runs at once.
    func submitAndWait(_ task: @escaping @Sendable () -> Void)

    /// Calls an app back on its queue, in the order of the deliveries. In virtual time the clock stands still until
    /// `callback` has returned. On the loop only.
    func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void)
}

/// Names a scheduled task, to cancel it.
public struct ScheduledTask: Hashable, Sendable {
    /// Unique within the loop; the loop gives out the numbers.
    public let id: UInt64

    /// A name for the task with this number.
    public init(id: UInt64) {
        self.id = id
    }
}

extension EventLoop {
    /// The same as ``isCurrent``, for a loop with a thread of its own.
    public var isRunningHere: Bool { isCurrent }

    /// Runs `task` after `delay`.
    @discardableResult
    public func schedule(after delay: Duration, _ task: @escaping () -> Void) -> ScheduledTask {
        schedule(at: now + delay, task)
    }

    /// Runs `task` soon: after the running task and those already due.
    public func execute(_ task: @escaping () -> Void) {
        schedule(at: now, task)
    }
}
