/// The serial event loop of a Bluetooth system: its clock, its timers, and the only thread that touches its state.
///
/// Every layer below the API keeps its state on one loop, without locks. Other threads enter through ``submit(_:)`` and
/// ``submitAndWait(_:)``; ``deliver(on:_:)`` calls out to an app's queue. Everything else is called on the loop.
///
/// There are two implementations. ``VirtualEventLoop`` runs as fast as it can in virtual time. The loop of the
/// `HCITransports` module follows the wall clock and waits on file descriptors. In both, ``now`` is the instant at
/// which the running task was due, not the instant at which the machine got to it, so the same code sees the same
/// times.
public protocol EventLoop: AnyObject, Sendable {
    /// The instant at which the running task was due.
    ///
    /// It does not advance while a task runs. On the loop only.
    var now: Instant { get }

    /// Whether the caller may access the state that lives on this loop.
    var isCurrent: Bool { get }

    /// Whether the caller runs inside a task of this loop.
    ///
    /// False while no thread runs the loop, when ``isCurrent`` may be true.
    var isRunningHere: Bool { get }

    /// Schedules a task on the loop.
    ///
    /// Tasks with the same deadline run in the order in which they were scheduled. On the loop only.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which `task` is due. If it has passed, `task` runs as soon as possible.
    ///   - task: The work to do.
    /// - Returns: A handle for ``cancel(_:)``.
    @discardableResult
    func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask

    /// Cancels a scheduled task.
    ///
    /// Does nothing if the task has run or was cancelled before. On the loop only.
    func cancel(_ task: ScheduledTask)

    /// Submits a task to run on the loop after those submitted before.
    ///
    /// Callable from any thread. Wakes the loop if it is waiting.
    func submit(_ task: @escaping @Sendable () -> Void)

    /// Runs a task on the loop after everything submitted before, and waits until it has run.
    ///
    /// Callable from any thread. On the loop itself, `task` runs at once.
    func submitAndWait(_ task: @escaping @Sendable () -> Void)

    /// Calls an app back on its queue.
    ///
    /// Callbacks run in the order of delivery. In virtual time the clock stands still until `callback` has returned. On
    /// the loop only.
    ///
    /// - Parameters:
    ///   - queue: The app's queue.
    ///   - callback: The code to run there.
    func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void)
}

/// A handle to a scheduled task, for ``EventLoop/cancel(_:)``.
public struct ScheduledTask: Hashable, Sendable {
    /// The task's number, assigned by the loop and unique within it.
    public let id: UInt64

    /// Creates a handle to the task with this number.
    public init(id: UInt64) {
        self.id = id
    }
}

extension EventLoop {
    /// The default, for a loop with a thread of its own: the same as ``isCurrent``.
    public var isRunningHere: Bool { isCurrent }

    /// Schedules a task to run after `delay`.
    ///
    /// On the loop only.
    ///
    /// - Returns: A handle for ``cancel(_:)``.
    @discardableResult
    public func schedule(after delay: Duration, _ task: @escaping () -> Void) -> ScheduledTask {
        schedule(at: now + delay, task)
    }

    /// Schedules a task to run after the running task and those already due.
    ///
    /// On the loop only.
    public func execute(_ task: @escaping () -> Void) {
        schedule(at: now, task)
    }
}
