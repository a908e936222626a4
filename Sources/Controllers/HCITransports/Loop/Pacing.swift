import DequeModule
import EventLoops

/// Decides what a real-time loop does next. A pure state machine: tasks and arrivals go in, decisions come out, without
/// a clock or a thread inside.
///
/// `now` follows the wall clock in steps and never goes back. It is the instant at which the running task was due, or
/// the wall time of an arrival from outside. Everything that was due before an arrival runs before it.
struct Pacing {
    /// The loop's next step.
    enum Step {
        /// Run this task. ``Pacing/now`` is set for it.
        case run(() -> Void)
        /// Nothing is due. Wait until this instant, or for an arrival.
        case sleep(until: Instant?)
    }

    private(set) var now = Instant.zero
    private var tasks = TaskQueue()

    mutating func add(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        tasks.add(at: max(deadline, now), task)
    }

    /// Cancels a task and returns it. Release the task outside of any access to this value.
    @discardableResult
    mutating func cancel(_ task: ScheduledTask) -> TaskQueue.WaitingTask? {
        tasks.cancel(task)
    }

    /// Removes and returns the next task that is due by the wall clock.
    mutating func step(wall: Instant) -> Step {
        if let task = tasks.popNext(dueBy: wall) {
            now = max(now, task.deadline)
            return .run(task.run)
        }
        return .sleep(until: tasks.nextDeadline())
    }

    /// Advances ``now`` to an arrival from outside, once ``step(wall:)`` has found nothing more due.
    mutating func arrive(wall: Instant) {
        now = max(now, wall)
    }
}
