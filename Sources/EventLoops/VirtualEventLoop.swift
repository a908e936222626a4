import DequeModule
import Dispatch
import Synchronization

/// A loop in virtual time: nothing waits, the clock jumps from task to task, and a run is a function of its inputs.
///
/// Whoever calls ``run(until:)`` or ``run(for:)`` lends its thread to the loop. While nobody does, one thread at a time
/// may set things up on the loop.
///
/// An app's callback runs alone: the loop waits until it has returned, and only then takes up what the callback asked
/// for, in the order of asking. What other threads submit meanwhile comes after that. So the thread on which an app runs does not decide
/// the outcome.
public final class VirtualEventLoop: EventLoop {
    /// A struct for the same reason as ``Delivery``.
    private struct Submission {
        let run: @Sendable () -> Void
        /// Whether the thread that has submitted it waits: then it is that thread's work, and not a handler of the loop.
        let isWaitedFor: Bool
    }

    private struct Shared {
        var submitted = Deque<Submission>()
        var someoneWaits = false
        /// The callback that the loop waits for.
        var callback: AwaitedCallback.Progress?
        /// What other threads submitted since it was posted.
        var held = Deque<Submission>()
    }

    /// A struct and no tuple: a closure in a tuple in a collection is wrapped, at the cost of an allocation.
    private struct Delivery {
        let queue: any CallbackQueue
        let callback: @Sendable () -> Void
    }

    private final class State {
        var now = Instant.zero
        var tasks = TaskQueue()
        var deliveries = Deque<Delivery>()
        var isRunning = false
    }

    // Safe: touched only by the thread that owns the loop; `owner` hands the ownership on.
    nonisolated(unsafe) private let state = State()
    private let shared = Mutex(Shared())
    // Who runs the loop, by the number of the thread; 0 for nobody. It changes under the lock of `shared` and is read
    // without it, since every access to the loop asks for it.
    private let owner = Atomic<UInt>(0)
    // Whether there may be something in the inbox, to look there only then.
    private let hasMail = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)

    /// While a callback takes long, how often the loop looks whether there is still somebody to call it.
    private static let lookInterval = DispatchTimeInterval.milliseconds(10)
    /// How many looks in a row find nobody before it waits no longer: an app may leave its run loop for a moment, and go on.
    private static let looksInVain = 5
    /// The number of looks after which the loop takes up what other threads have submitted: the callback may be waiting for them.
    private static let looksAlone = 50

    /// A loop at instant zero.
    public init() {}

    /// The instant of the running task, or the one that the last run ended at.
    public var now: Instant {
        precondition(isCurrent, "the time of a virtual loop is read on that loop")
        return state.now
    }

    /// Whether this thread runs the loop, or nobody does.
    public var isCurrent: Bool {
        let owner = owner.load(ordering: .acquiring)
        return owner == 0 || owner == ThreadIdentity.current.number
    }

    /// Whether this thread runs the loop.
    public var isRunningHere: Bool { owner.load(ordering: .acquiring) == ThreadIdentity.current.number }

    /// Adds a task. On the loop only.
    @discardableResult
    public func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        precondition(isCurrent, "tasks are scheduled on the loop; use submit(_:) from other threads")
        return state.tasks.add(at: max(deadline, state.now), task)
    }

    /// Drops a task. On the loop only.
    public func cancel(_ task: ScheduledTask) {
        precondition(isCurrent, "tasks are cancelled on the loop; use submit(_:) from other threads")
        let dropped = state.tasks.cancel(task)
        withExtendedLifetime(dropped) {}
    }

    /// Queues `task` for the thread that runs the loop, now or when somebody next does.
    public func submit(_ task: @escaping @Sendable () -> Void) {
        shared.withLock { post(Submission(run: task, isWaitedFor: false), &$0) }
    }

    /// Runs `task` after all that was submitted before; on this thread when nobody runs the loop.
    public func submitAndWait(_ task: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        let submission = Submission(
            run: {
                task()
                done.signal()
            },
            isWaitedFor: true
        )
        let here = ThreadIdentity.current.number
        let runner = shared.withLock { shared in
            post(submission, &shared)
            let runner = owner.load(ordering: .acquiring)
            // Taken under the lock, so that of two threads that come at once one waits for the other.
            if runner == 0 { owner.store(here, ordering: .releasing) }
            return runner
        }
        switch runner {
        case 0:
            drain()
            letGo()
        case here: drain()
        default:
            wake.signal()
            done.wait()
        }
    }

    /// Queues `callback` for the moment when all that is due now has run.
    public func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void) {
        precondition(isCurrent, "callbacks are delivered from the loop")
        state.deliveries.append(Delivery(queue: queue, callback: callback))
    }

    /// Runs everything that is due within `duration` from now, and leaves the clock at its end.
    public func run(for duration: Duration) {
        run(until: state.now + duration)
    }

    /// Runs everything that is due up to `limit`, and leaves the clock there.
    public func run(until limit: Instant) {
        run(until: limit, stopWhen: { false })
    }

    /// Runs until `condition` holds, which is asked after every task, or until the clock is at `limit`.
    ///
    /// - Returns: Whether the condition held.
    @discardableResult
    public func run(until limit: Instant, stopWhen condition: () -> Bool) -> Bool {
        owning {
            precondition(!state.isRunning, "a loop that runs cannot be run from one of its own tasks")
            state.isRunning = true
            defer { state.isRunning = false }
            while !condition() {
                if !step(limit: limit) { return condition() }
            }
            return true
        }
    }

    /// Does one thing: what was submitted, a task that is due, a delivery, or a move of the clock.
    private func step(limit: Instant) -> Bool {
        if drain() { return true }
        if let task = state.tasks.popNext(dueBy: state.now) {
            LoopWatchdog.run(task.run)
            return true
        }
        if !state.deliveries.isEmpty {
            callNext()
            // What it asked for belongs to it: whoever stops the loop now finds that taken up.
            drain()
            return true
        }
        guard let next = state.tasks.nextDeadline(), next <= limit else {
            state.now = max(state.now, limit)
            return false
        }
        state.now = next
        return true
    }

    private func post(_ submission: Submission, _ shared: inout Shared) {
        if let callback = shared.callback, !isRunningHere, !callback.isHere { return shared.held.append(submission) }
        shared.submitted.append(submission)
        if submission.isWaitedFor { shared.someoneWaits = true }
        hasMail.store(true, ordering: .releasing)
    }

    /// Runs what was submitted; false if there was nothing.
    @discardableResult
    private func drain() -> Bool {
        var ran = false
        while hasMail.load(ordering: .acquiring) {
            let submission = shared.withLock { shared in
                hasMail.store(shared.submitted.count > 1, ordering: .releasing)
                return shared.submitted.popFirst()
            }
            guard let submission else { return ran }
            if submission.isWaitedFor { submission.run() } else { LoopWatchdog.run(submission.run) }
            ran = true
        }
        return ran
    }

    /// Runs an app's callback and waits for its end, answering meanwhile only what the app itself waits for.
    private func callNext() {
        guard let (progress, queue) = postNext() else { return }
        var (looks, looksInVain) = (0, 0)
        while true {
            let isWoken = wake.wait(timeout: .now() + Self.lookInterval) == .success
            let isOver = progress.isOver
            if isOver || looks == Self.looksAlone { admitOthers() }
            if takeWaiting() { drain() }
            if isOver { return }
            guard !isWoken else { continue }
            looks += 1
            looksInVain = queue.isRunning ? 0 : looksInVain + 1
            // Its thread has left the run loop before the callback came.
            if looksInVain == Self.looksInVain { progress.abandon() }
        }
    }

    /// Gives the next callback to its queue. Nil when there is nothing to wait for.
    private func postNext() -> (progress: AwaitedCallback.Progress, queue: any CallbackQueue)? {
        guard let delivery = state.deliveries.popFirst() else { return nil }
        let queue = delivery.queue
        if queue.isCurrent {
            // The loop runs on the app's own queue: waiting for that queue would be waiting for oneself.
            delivery.callback()
            return nil
        }
        guard queue.isRunning else {
            queue.async(delivery.callback)
            return nil
        }
        return (post(delivery.callback, on: queue), queue)
    }

    /// Gives a callback to its queue, and keeps nothing of it.
    private func post(
        _ callback: @escaping @Sendable () -> Void,
        on queue: any CallbackQueue
    ) -> AwaitedCallback.Progress {
        let awaited = AwaitedCallback(callback, wake: wake)
        shared.withLock { $0.callback = awaited.progress }
        queue.async { awaited.run() }
        return awaited.progress
    }

    /// Lets in what other threads have submitted since a callback was posted.
    private func admitOthers() {
        shared.withLock { shared in
            shared.callback = nil
            for submission in shared.held { post(submission, &shared) }
            shared.held.removeAll()
        }
    }

    /// Whether a thread has begun to wait for an answer since the last time.
    private func takeWaiting() -> Bool {
        shared.withLock { shared in
            defer { shared.someoneWaits = false }
            return shared.someoneWaits
        }
    }

    /// Makes this thread the loop's for the time of `body`.
    private func owning<R>(_ body: () -> R) -> R {
        let isOutermost = shared.withLock { _ in
            precondition(isCurrent, "another thread runs this loop")
            return owner.exchange(ThreadIdentity.current.number, ordering: .acquiringAndReleasing) == 0
        }
        let result = body()
        if isOutermost { letGo() }
        return result
    }

    /// Leaves the loop to the next thread.
    private func letGo() {
        // Another thread may have begun to wait for an answer after the last look into the inbox.
        while !shared.withLock({ shared in
            guard shared.someoneWaits else {
                owner.store(0, ordering: .releasing)
                return true
            }
            shared.someoneWaits = false
            return false
        }) {
            drain()
        }
    }
}
