import DequeModule
import EventLoops

/// What a loop in real time does next, as a machine: tasks and submissions in, decisions out, no clock and no thread
/// inside.
///
/// `now` follows the wall clock in steps: it is the instant that the running task was due at, or the wall time at which
/// something came in from outside, and never goes back. All that was due before something came in runs before it.
struct Pacing {
    /// What the loop does next.
    enum Step {
        /// Run this task; ``Pacing/now`` is set for it.
        case run(() -> Void)
        /// Nothing is due; come back at this instant, or when something comes in.
        case sleep(until: Instant?)
    }

    private(set) var now = Instant.zero
    private var tasks = TaskQueue()

    mutating func add(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        tasks.add(at: max(deadline, now), task)
    }

    /// Returns the task, to be let go of outside.
    @discardableResult
    mutating func cancel(_ task: ScheduledTask) -> TaskQueue.WaitingTask? {
        tasks.cancel(task)
    }

    /// Takes the next task that is due by the wall clock.
    mutating func step(wall: Instant) -> Step {
        if let task = tasks.popNext(dueBy: wall) {
            now = max(now, task.deadline)
            return .run(task.run)
        }
        return .sleep(until: tasks.nextDeadline())
    }

    /// Stamps something that has come in from outside, after ``step(wall:)`` has found nothing due any more.
    mutating func arrive(wall: Instant) {
        now = max(now, wall)
    }
}
