import EventLoops
import NIOCore
import NIOPosix
import Synchronization

/// An event loop in real time: one swift-nio thread, which also waits on the sockets of its transports.
package final class NIOEventLoop: EventLoops.EventLoop {
    /// The underlying swift-nio loop.
    package let nio: any NIOCore.EventLoop

    /// A struct rather than a tuple, because Swift wraps a closure inside a collection otherwise, which costs an
    /// allocation.
    private struct Submission {
        let run: @Sendable () -> Void
    }

    private struct Delivery {
        let queue: any CallbackQueue
        let callback: @Sendable () -> Void
    }

    /// The capacity that lists keep from one burst to the next.
    private static let keptCapacity = 1_024
    /// The number of tasks after which sockets and submissions get their turn, even if more tasks are due.
    private static let turn = 256
    /// The pause between two such turns. swift-nio serves sockets only when nothing else is ready.
    private static let pauseBetweenTurns = TimeAmount.microseconds(100)

    // Submissions of other threads that the loop has not started to run.
    private let inbox = Mutex<[Submission]>([])
    // Safe: these are only touched on the thread of `nio`. Every access goes through `onLoop()`.
    nonisolated(unsafe) private var taken: [Submission] = []
    nonisolated(unsafe) private var deliveries: [Delivery] = []
    nonisolated(unsafe) private var pacing = Pacing()
    nonisolated(unsafe) private var alarm: (deadline: Instant, scheduled: Scheduled<Void>)?
    nonisolated(unsafe) private var isRunning = false
    // Whether the last turn left tasks that were due, and whether the next turn is arranged.
    nonisolated(unsafe) private var isBehind = false
    nonisolated(unsafe) private var nextTurnComes = false
    private let group: MultiThreadedEventLoopGroup
    private let start: NIODeadline

    /// Starts the loop's thread.
    package init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        nio = group.next()
        start = .now()
    }

    /// Stops the loop's thread after the work in progress. Not from the loop itself.
    package func shutDown() {
        precondition(!nio.inEventLoop, "a loop cannot wait for its own end")
        // The only error is that the group has been shut down before.
        try? group.syncShutdownGracefully()
    }

    /// The instant at which the running task was due, or at which the running submission arrived. On the loop only.
    package var now: Instant {
        onLoop()
        return pacing.now
    }

    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool { nio.inEventLoop }

    /// Schedules a task. On the loop only.
    @discardableResult
    package func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        onLoop()
        let scheduled = pacing.add(at: deadline, task)
        if !isRunning { setAlarm(for: deadline) }
        return scheduled
    }

    /// Cancels a task. On the loop only.
    package func cancel(_ task: ScheduledTask) {
        onLoop()
        let dropped = pacing.cancel(task)
        withExtendedLifetime(dropped) {}
    }

    /// Runs `task` on the loop's thread, after everything due by then. From any thread.
    ///
    /// A loop that is behind with its tasks runs it between two turns of them.
    ///
    /// Submissions made before the thread wakes count as one arrival, so that many of them cost one wake-up.
    package func submit(_ task: @escaping @Sendable () -> Void) {
        let isFirst = inbox.withLock {
            $0.append(Submission(run: task))
            return $0.count == 1
        }
        if isFirst { nio.execute { [self] in runSubmissions() } }
    }

    private func runSubmissions() {
        onLoop()
        inbox.withLock { swap(&$0, &taken) }
        enter { [self] in
            for submission in taken { LoopWatchdog.run(submission.run) }
            taken.removeAll(keepingCapacity: taken.count <= Self.keptCapacity)
        }
    }

    /// Runs `task` on the loop's thread and waits for it; at once if this is the loop's thread. Does nothing on a loop
    /// that has been shut down.
    package func submitAndWait(_ task: @escaping @Sendable () -> Void) {
        if nio.inEventLoop { return task() }
        // The only error is that the loop has been shut down, so there is nothing to wait for.
        try? nio.submit { [self] in enter(task) }.wait()
    }

    /// Calls an app back on its queue after everything that is due now, as in virtual time. The queue's thread is woken
    /// once for all callbacks of this run.
    package func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void) {
        onLoop()
        deliveries.append(Delivery(queue: queue, callback: callback))
        // Outside of a task, nothing is due that would come first.
        if !isRunning { handOver() }
    }

    private func handOver() {
        guard !deliveries.isEmpty else { return }
        for delivery in deliveries { delivery.queue.async(delivery.callback) }
        deliveries.removeAll(keepingCapacity: deliveries.count <= Self.keptCapacity)
    }

    /// Runs an event of a transport as a task of its own: after everything that was due before it, and before anything
    /// that it schedules.
    ///
    /// swift-nio reports some events from inside the call that caused them, such as a write that fills a socket, or a
    /// close. The loop defers an event that arrives while a task runs until that task, and all tasks due before the
    /// event, have ended. Deferred events keep their order. No caller therefore has to expect an event during a call.
    ///
    /// On a loop that is behind with its tasks, an event comes after those that were due up to ``now``, not after all
    /// that have become due since, which might never end.
    package func arrive(_ task: @escaping () -> Void) {
        onLoop()
        guard !isRunning, !isBehind else {
            schedule(at: pacing.now, task)
            return
        }
        enter { LoopWatchdog.run(task) }
    }

    /// Runs work that arrives from outside while no task runs: first what was due before it, then the work, then what
    /// it scheduled.
    private func enter(_ task: () -> Void) {
        onLoop()
        runDue()
        isRunning = true
        // The clock of a loop that is behind does not pass over tasks.
        if !isBehind { pacing.arrive(wall: wall) }
        task()
        isRunning = false
        runDue()
    }

    /// Runs what is due, for one turn at most.
    private func runDue() {
        isRunning = true
        defer { isRunning = false }
        for _ in 0..<Self.turn {
            switch pacing.step(wall: wall) {
            case .run(let task): LoopWatchdog.run(task)
            case .sleep(let deadline):
                isBehind = false
                handOver()
                if let deadline { setAlarm(for: deadline) }
                return
            }
        }
        isBehind = true
        handOver()
        arrangeNextTurn()
    }

    private func arrangeNextTurn() {
        guard !nextTurnComes else { return }
        nextTurnComes = true
        // Not `execute`, which would run before any socket is served.
        nio.scheduleTask(in: Self.pauseBetweenTurns) { [self] in
            nextTurnComes = false
            runDue()
        }
    }

    private func setAlarm(for deadline: Instant) {
        if let alarm {
            if alarm.deadline <= deadline { return }
            alarm.scheduled.cancel()
        }
        let wakeUp = start + .nanoseconds(deadline.nanoseconds)
        let scheduled = nio.scheduleTask(deadline: wakeUp) { [self] in
            alarm = nil
            runDue()
        }
        alarm = (deadline, scheduled)
    }

    private var wall: Instant { Instant(nanoseconds: (NIODeadline.now() - start).nanoseconds) }

    private func onLoop() {
        precondition(nio.inEventLoop, "call this on the loop; use submit(_:) from other threads")
    }
}

/// A completion handler that lives on the loop, in a box that swift-nio futures can capture. They complete on the same
/// loop.
struct LoopBoundCompletion<Value>: @unchecked Sendable {
    // Safe: created and called on the loop only, which both check.
    private let completion: (Value) -> Void
    private let loop: NIOEventLoop

    init(_ completion: @escaping (Value) -> Void, loop: NIOEventLoop) {
        loop.nio.preconditionInEventLoop()
        self.completion = completion
        self.loop = loop
    }

    func call(_ value: Value) {
        loop.nio.preconditionInEventLoop()
        completion(value)
    }

    /// Calls the completion with the result of `work`, which runs on another thread and may block.
    func complete(with work: @escaping @Sendable () -> Value) where Value: Sendable {
        SideQueue.run {
            let value = work()
            loop.submit { call(value) }
        }
    }
}
