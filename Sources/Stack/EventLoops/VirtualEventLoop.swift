import DequeModule
import Dispatch
import Synchronization

/// An event loop in virtual time.
///
/// The loop never sleeps: its clock jumps from task to task, and the outcome of a run depends on its inputs alone. A
/// run at a ``Pace`` is the exception: it follows the wall clock, so that code with timers of its own can take part.
///
/// A thread that calls ``run(until:)`` or ``run(for:)`` runs the loop until the call returns. While no thread runs the
/// loop, one thread at a time may access it to set things up.
///
/// App callbacks are serialized with the loop. The loop waits until a callback has returned, then runs what the
/// callback submitted, in order. Submissions of other threads in the meantime come after that, so the thread on which
/// an app runs does not affect the outcome.
public final class VirtualEventLoop: EventLoop {
    /// A struct for the same reason as ``Delivery``.
    private struct Submission {
        let run: @Sendable () -> Void
        /// Whether the submitting thread waits for it. If so, the work is that thread's and not a handler of the loop.
        let isWaitedFor: Bool
    }

    private struct Shared {
        var submitted = Deque<Submission>()
        var hasWaiter = false
        var callback: AwaitedCallback.Progress?
        /// Called when a callback does not return.
        var onBlockedQueue: (@Sendable (any CallbackQueue) -> Void)?
        /// Submissions of other threads since that callback was posted.
        var held = Deque<Submission>()
    }

    /// A struct rather than a tuple, because Swift wraps a closure inside a tuple in a collection, which costs an
    /// allocation.
    private struct Delivery {
        let queue: any CallbackQueue
        let callback: @Sendable () -> Void
    }

    private final class State {
        var now = Instant.zero
        var tasks = TaskQueue()
        var deliveries = Deque<Delivery>()
        var isRunning = false
        /// When the present run ends at the latest.
        var limit = Instant.zero
        /// How the clock of the present run follows the wall clock; nil if it does not.
        var pacer: Pacer?
        /// The number of pieces of work that did not end in time, so that the clock no longer waits for them.
        var givenUp = 0
        /// The queues whose callbacks did not return.
        var blocked: [any CallbackQueue] = []
    }

    // Safe: only the thread that owns the loop touches it. `owner` transfers the ownership.
    nonisolated(unsafe) private let state = State()
    private let shared = Mutex(Shared())
    // The number of the thread that runs the loop, or 0 for none. Written under the lock of `shared`, but read without
    // it, because every access to the loop checks it.
    private let owner = Atomic<UInt>(0)
    // Whether the inbox may hold submissions. Avoids taking the lock when it does not.
    private let hasSubmissions = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)
    // A copy of the clock, for other threads.
    private let clock = Atomic<Int64>(0)
    // The number of pieces of work that the clock waits for, and whether their end has to wake the loop.
    private let work = Atomic<Int>(0)
    private let waitsForWork = Atomic<Bool>(false)
    private let threads = ThreadWatch()
    // Whether submissions have to wake a paced run.
    private let isPaced = Atomic<Bool>(false)

    /// While the loop waits for a callback, how often it checks that the callback's queue is still running. Also the
    /// longest time for which a paced run waits without evaluating its condition.
    private static let checkInterval = DispatchTimeInterval.milliseconds(10)
    /// The number of consecutive failed checks after which the loop stops waiting. An app may leave its run loop
    /// briefly.
    private static let failedChecksUntilReturn = 5
    /// The number of checks after which the loop admits other threads' submissions, because the callback may be waiting
    /// for them.
    private static let checksUntilSubmissions = 50

    /// The number of checks after which the loop stops waiting for a callback that has not returned. A debugger stops
    /// the checks, too.
    package static let checksForReturn = 1_000

    /// The number of checks after which the loop stops waiting for work on other threads, which may be waiting for time
    /// to pass.
    private static let checksForWork = 200

    private let checksForReturn: Int

    /// Creates a loop whose clock is at `Instant.zero`.
    public init() {
        checksForReturn = Self.checksForReturn
    }

    /// Creates a loop that waits for another number of checks until a callback returns, each of 10 ms.
    package init(checksForReturn: Int) {
        self.checksForReturn = checksForReturn
    }

    /// The instant at which the running task was due, or at which the last run ended.
    ///
    /// Traps if another thread runs the loop.
    public var now: Instant {
        precondition(isCurrent, "read the time of a virtual loop on that loop")
        return state.now
    }

    /// The time of the loop, from any thread. It does not advance while a callback runs, or work that the clock waits
    /// for.
    public var reading: Instant { Instant(nanoseconds: clock.load(ordering: .acquiring)) }

    /// Notes that work on another thread begins. The clock stands still until ``endWork()``, but for two seconds of
    /// real time at most. From any thread.
    public func beginWork() { work.add(1, ordering: .acquiringAndReleasing) }

    /// Notes that such work has ended. From any thread.
    public func endWork() {
        let left = work.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0, waitsForWork.load(ordering: .acquiring) { wake.signal() }
    }

    /// Lets the clock stand still while the calling thread runs, for two seconds of real time at most, and go on while
    /// it waits.
    package func beginThread() { threads.addCurrent() }

    package func endThread() { threads.removeCurrent() }

    /// Whether this thread runs the loop, or no thread does.
    public var isCurrent: Bool {
        let owner = owner.load(ordering: .acquiring)
        return owner == 0 || owner == ThreadIdentity.current.number
    }

    /// Whether this thread runs the loop.
    public var isRunningHere: Bool { owner.load(ordering: .acquiring) == ThreadIdentity.current.number }

    /// Schedules a task on the loop.
    ///
    /// On the loop only.
    ///
    /// - Parameter deadline: The instant at which `task` is due. An instant before ``now`` counts as ``now``.
    /// - Returns: A handle for ``cancel(_:)``.
    @discardableResult
    public func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        precondition(isCurrent, "schedule tasks on the loop; use submit(_:) from other threads")
        return state.tasks.add(at: max(deadline, state.now), task)
    }

    /// Cancels a scheduled task.
    ///
    /// Does nothing if the task has run or was cancelled before. On the loop only.
    public func cancel(_ task: ScheduledTask) {
        precondition(isCurrent, "cancel tasks on the loop; use submit(_:) from other threads")
        let dropped = state.tasks.cancel(task)
        withExtendedLifetime(dropped) {}
    }

    /// Queues a task for the thread that runs the loop, now or the next time.
    ///
    /// Callable from any thread.
    public func submit(_ task: @escaping @Sendable () -> Void) {
        shared.withLock { post(Submission(run: task, isWaitedFor: false), &$0) }
    }

    /// Runs a task after everything submitted before, and waits until it has run.
    ///
    /// If no thread runs the loop, the calling thread runs it.
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
            // Ownership changes under the lock, so that of two threads that arrive together one waits for the other.
            if runner == 0 { owner.store(here, ordering: .releasing) }
            return runner
        }
        switch runner {
        case 0:
            drain()
            releaseCallbacks()
        case here: drain()
        default:
            wake.signal()
            done.wait()
        }
    }

    /// Queues a callback to run on `queue` after everything that is due now.
    ///
    /// On the loop only.
    public func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void) {
        precondition(isCurrent, "deliver callbacks from the loop")
        state.deliveries.append(Delivery(queue: queue, callback: callback))
    }

    /// Runs everything that is due within `duration` from now, and leaves the clock at the end of it.
    public func run(for duration: Duration) {
        run(until: state.now + duration)
    }

    /// Runs everything that is due up to `limit`, and leaves the clock there.
    public func run(until limit: Instant) {
        run(until: limit, stopWhen: { false })
    }

    /// Runs until `condition` holds or the clock reaches `limit`.
    ///
    /// - Parameters:
    ///   - limit: The instant at which the run ends at the latest.
    ///   - pace: How fast the clock follows the wall clock; nil to run as fast as possible. A paced run depends on the
    ///     timing of the machine, so two of them may differ.
    ///   - condition: Evaluated before the first step and after every step; in a paced run at least every 10 ms.
    /// - Returns: Whether the condition held.
    @discardableResult
    public func run(until limit: Instant, at pace: Pace? = nil, stopWhen condition: () -> Bool) -> Bool {
        owning {
            precondition(!state.isRunning, "a running loop cannot be run from one of its own tasks")
            state.isRunning = true
            state.limit = limit
            state.pacer = pace.map { Pacer($0, from: state.now) }
            isPaced.store(pace != nil, ordering: .releasing)
            defer {
                state.isRunning = false
                isPaced.store(false, ordering: .releasing)
            }
            while !condition() {
                if !step(limit: limit) { return condition() }
            }
            return true
        }
    }

    /// Performs one step: submissions, a due task, a delivery, or an advance of the clock.
    ///
    /// - Returns: Whether there was anything to do up to `limit`.
    private func step(limit: Instant) -> Bool {
        if drain() || awaitWork() { return true }
        if let task = state.tasks.popNext(dueBy: state.now) {
            LoopWatchdog.run(task.run)
            return true
        }
        if !state.deliveries.isEmpty {
            callNext()
            // Submissions of the callback belong to it: run them before the caller's stop condition is evaluated.
            drain()
            return true
        }
        if awaitThreads() { return true }
        let next = state.tasks.nextDeadline()
        let target = min(next ?? limit, limit)
        if let pacer = state.pacer, !wait(for: target, pacer) { return true }
        set(max(state.now, target))
        return next.map { $0 <= limit } ?? false
    }

    /// Returns the instant before which nothing but one task can happen on this loop, as seen from a running task.
    ///
    /// - Parameter task: The task, which must be the next one; nil if not even one can happen before.
    /// - Returns: The end of the run or the deadline of the first other task, whichever is first; nil if anything else can
    ///   happen before.
    package func horizon(behind task: ScheduledTask? = nil) -> Instant? {
        guard isRunningHere, state.isRunning, state.pacer == nil, state.deliveries.isEmpty,
            !hasSubmissions.load(ordering: .acquiring), work.load(ordering: .acquiring) <= state.givenUp,
            !awaitThreads(), let next = state.tasks.deadline(behind: task)
        else { return nil }
        return min(next, state.limit + .nanoseconds(1))
    }

    /// Moves the clock to an instant before ``horizon(behind:)``, within a running task that does by itself all that was
    /// due until then.
    package func pass(to instant: Instant) {
        precondition(isRunningHere && instant >= state.now, "time passes forwards, in a task of its loop")
        assert(state.tasks.nextDeadline() ?? instant >= instant, "a task is due before this instant")
        set(instant)
    }

    /// Waits in a paced run until the clock has come to an instant, for 10 ms at most. Sets the clock to where it has
    /// come.
    ///
    /// - Returns: Whether the instant has come. If not, there may be submissions to run first.
    private func wait(for instant: Instant, _ pacer: Pacer) -> Bool {
        let slice = DispatchTime.now() + Self.checkInterval
        let due = pacer.wallTime(of: instant)
        while !hasSubmissions.load(ordering: .acquiring) {
            let now = DispatchTime.now()
            if now >= due { return true }
            if now >= slice { break }
            _ = wake.wait(timeout: min(due, slice))
        }
        set(max(state.now, min(instant, pacer.now)))
        return false
    }

    private func set(_ now: Instant) {
        state.now = now
        clock.store(now.nanoseconds, ordering: .releasing)
    }

    /// Waits for work on other threads. Meanwhile runs what it submits.
    ///
    /// - Returns: Whether there was anything to wait for.
    private func awaitWork() -> Bool {
        state.givenUp = min(state.givenUp, work.load(ordering: .acquiring))
        guard work.load(ordering: .acquiring) > state.givenUp else { return false }
        waitsForWork.store(true, ordering: .releasing)
        defer { waitsForWork.store(false, ordering: .releasing) }
        var looks = 0
        while work.load(ordering: .acquiring) > state.givenUp {
            _ = wake.wait(timeout: .now() + Self.checkInterval)
            if drain() { return true }
            looks += 1
            if looks == Self.checksForWork { state.givenUp = work.load(ordering: .acquiring) }
        }
        return true
    }

    /// Waits until the threads of apps wait too, before the clock advances.
    ///
    /// - Returns: Whether there is something to do before that.
    private func awaitThreads() -> Bool {
        guard threads.haveAny else { return false }
        threads.settle { hasSubmissions.load(ordering: .acquiring) }
        return hasSubmissions.load(ordering: .acquiring) || work.load(ordering: .acquiring) > state.givenUp
    }

    private func post(_ submission: Submission, _ shared: inout Shared) {
        if let callback = shared.callback, !isRunningHere, !callback.isOnCallingThread {
            return shared.held.append(submission)
        }
        shared.submitted.append(submission)
        if submission.isWaitedFor { shared.hasWaiter = true }
        hasSubmissions.store(true, ordering: .releasing)
        if isPaced.load(ordering: .acquiring) { wake.signal() }
    }

    /// Runs the submitted tasks. Returns false if there were none.
    @discardableResult
    private func drain() -> Bool {
        var ran = false
        while hasSubmissions.load(ordering: .acquiring) {
            let submission = shared.withLock { shared in
                hasSubmissions.store(shared.submitted.count > 1, ordering: .releasing)
                return shared.submitted.popFirst()
            }
            guard let submission else { return ran }
            if submission.isWaitedFor { submission.run() } else { LoopWatchdog.run(submission.run) }
            ran = true
        }
        return ran
    }

    /// Runs an app's callback and waits for its end. Meanwhile serves only what the app itself waits for.
    private func callNext() {
        guard let (progress, queue) = postNext() else { return }
        var (looks, failedChecksUntilReturn) = (0, 0)
        while true {
            let isWoken = wake.wait(timeout: .now() + Self.checkInterval) == .success
            let isOver = progress.isOver
            if isOver || looks == Self.checksUntilSubmissions { admitOthers() }
            if takeWaiting() { drain() }
            if isOver { return }
            guard !isWoken else { continue }
            looks += 1
            failedChecksUntilReturn = queue.isRunning ? 0 : failedChecksUntilReturn + 1
            if looks == (state.blocked.isEmpty ? checksForReturn : Self.checksUntilSubmissions) {
                return giveUp(on: queue)
            }
            // The queue's thread left its run loop before the callback ran.
            if failedChecksUntilReturn == Self.failedChecksUntilReturn { progress.abandon() }
        }
    }

    /// Goes on without the callback that blocks a queue. Later callbacks wait in that queue, and the loop does not wait
    /// for them.
    private func giveUp(on queue: any CallbackQueue) {
        // A queue without a name may be that of an earlier report.
        let isKnown = !state.blocked.isEmpty && queue.label.isEmpty
        state.blocked.append(queue)
        guard !isKnown else { return }
        let report = shared.withLock { $0.onBlockedQueue }
        report?(queue)
    }

    /// Sets the function that is called on the loop when an app's callback has not returned for ten seconds of the
    /// machine, because it waits for something that the loop or another callback on its queue would have to do.
    package func whenQueueBlocks(_ report: @escaping @Sendable (any CallbackQueue) -> Void) {
        shared.withLock { $0.onBlockedQueue = report }
    }

    /// Posts the next callback to its queue. Returns nil if there is nothing to wait for.
    private func postNext() -> (progress: AwaitedCallback.Progress, queue: any CallbackQueue)? {
        guard let delivery = state.deliveries.popFirst() else { return nil }
        let queue = delivery.queue
        if queue.isCurrent {
            // The loop runs on the app's own queue. Waiting for that queue would deadlock.
            delivery.callback()
            return nil
        }
        guard queue.isRunning, !state.blocked.contains(where: { $0 as AnyObject === queue as AnyObject }) else {
            queue.async(delivery.callback)
            return nil
        }
        return (post(delivery.callback, on: queue), queue)
    }

    /// Posts a callback to its queue, without keeping a reference to the closure.
    private func post(
        _ callback: @escaping @Sendable () -> Void,
        on queue: any CallbackQueue
    ) -> AwaitedCallback.Progress {
        let awaited = AwaitedCallback(callback, wake: wake)
        shared.withLock { $0.callback = awaited.progress }
        queue.async { awaited.run() }
        return awaited.progress
    }

    /// Admits the submissions of other threads since a callback was posted.
    private func admitOthers() {
        shared.withLock { shared in
            shared.callback = nil
            for submission in shared.held { post(submission, &shared) }
            shared.held.removeAll()
        }
    }

    /// Returns and clears whether a thread has begun to wait since the last call.
    private func takeWaiting() -> Bool {
        shared.withLock { shared in
            defer { shared.hasWaiter = false }
            return shared.hasWaiter
        }
    }

    /// Makes this thread the owner of the loop while `body` runs.
    private func owning<R>(_ body: () -> R) -> R {
        let isOutermost = shared.withLock { _ in
            precondition(isCurrent, "another thread is running this loop")
            return owner.exchange(ThreadIdentity.current.number, ordering: .acquiringAndReleasing) == 0
        }
        let result = body()
        if isOutermost { releaseCallbacks() }
        return result
    }

    private func releaseCallbacks() {
        // Another thread may have begun to wait after the last drain of the inbox.
        while !shared.withLock({ shared in
            guard shared.hasWaiter else {
                owner.store(0, ordering: .releasing)
                return true
            }
            shared.hasWaiter = false
            return false
        }) {
            drain()
        }
    }
}
