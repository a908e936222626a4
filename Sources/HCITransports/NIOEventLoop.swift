import EventLoops
import NIOCore
import NIOPosix
import Synchronization

/// A loop in real time: one thread of swift-nio, which also waits on the sockets of its transports.
package final class NIOEventLoop: EventLoops.EventLoop {
    /// The loop and the thread of swift-nio.
    package let nio: any NIOCore.EventLoop

    /// A struct and no tuple: a closure in a collection is wrapped otherwise, at the cost of an allocation.
    private struct Submission {
        let run: @Sendable () -> Void
    }

    private struct Delivery {
        let queue: any CallbackQueue
        let callback: @Sendable () -> Void
    }

    /// How much room lists keep from one burst to the next.
    private static let keptCapacity = 1_024

    // What other threads have submitted and the loop has not begun with.
    private let inbox = Mutex<[Submission]>([])
    // Safe: these are touched on the thread of `nio` only; every access goes through `onLoop()`.
    nonisolated(unsafe) private var taken: [Submission] = []
    nonisolated(unsafe) private var deliveries: [Delivery] = []
    nonisolated(unsafe) private var pacing = Pacing()
    nonisolated(unsafe) private var alarm: (deadline: Instant, scheduled: Scheduled<Void>)?
    nonisolated(unsafe) private var isRunning = false
    private let group: MultiThreadedEventLoopGroup
    private let start: NIODeadline

    /// Starts the thread.
    package init() {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        nio = group.next()
        start = .now()
    }

    /// Ends the thread after what is under way. Not from the loop itself.
    package func shutDown() {
        precondition(!nio.inEventLoop, "a loop cannot wait for its own end")
        // The only error is that it has been shut down before.
        try? group.syncShutdownGracefully()
    }

    /// The instant of the running task.
    package var now: Instant {
        onLoop()
        return pacing.now
    }

    /// Whether this is the loop's thread.
    package var isCurrent: Bool { nio.inEventLoop }

    /// Adds a task. On the loop only.
    @discardableResult
    package func schedule(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        onLoop()
        let scheduled = pacing.add(at: deadline, task)
        if !isRunning { setAlarm(for: deadline) }
        return scheduled
    }

    /// Drops a task. On the loop only.
    package func cancel(_ task: ScheduledTask) {
        onLoop()
        let dropped = pacing.cancel(task)
        withExtendedLifetime(dropped) {}
    }

    /// Runs `task` on the loop's thread, after all that is due by then. What comes before the thread has got there is one arrival
    /// with it: the thread is woken once for many.
    package func submit(_ task: @escaping @Sendable () -> Void) {
        let isFirst = inbox.withLock {
            $0.append(Submission(run: task))
            return $0.count == 1
        }
        if isFirst { nio.execute { [self] in takeIn() } }
    }

    private func takeIn() {
        onLoop()
        inbox.withLock { swap(&$0, &taken) }
        enter { [self] in
            for submission in taken { LoopWatchdog.run(submission.run) }
            taken.removeAll(keepingCapacity: taken.count <= Self.keptCapacity)
        }
    }

    /// Runs `task` on the loop's thread and waits for it; at once when this is the loop's thread. On a loop that has been
    /// shut down nothing happens.
    package func submitAndWait(_ task: @escaping @Sendable () -> Void) {
        if nio.inEventLoop { return task() }
        // The only error is that the loop has been shut down: then there is nothing to wait for.
        try? nio.submit { [self] in enter(task) }.wait()
    }

    /// Calls an app back on its queue when all that is due now has run, as in virtual time: its thread is woken once for all that
    /// this comes to.
    package func deliver(on queue: any CallbackQueue, _ callback: @escaping @Sendable () -> Void) {
        onLoop()
        deliveries.append(Delivery(queue: queue, callback: callback))
        // Outside of a task nothing is due that would come first.
        if !isRunning { handOver() }
    }

    private func handOver() {
        guard !deliveries.isEmpty else { return }
        for delivery in deliveries { delivery.queue.async(delivery.callback) }
        deliveries.removeAll(keepingCapacity: deliveries.count <= Self.keptCapacity)
    }

    /// Runs what a transport reports, as a task of its own: after all that was due before it, and before anything that it makes due.
    ///
    /// swift-nio reports some of it from inside the call that caused it: a write that fills a socket, or a close. The loop defers what arrives
    /// while a task runs until that task and all tasks due before it have ended, in the order of arrival. So no caller has to expect a
    /// report inside a call in progress.
    package func arrive(_ task: @escaping () -> Void) {
        onLoop()
        guard !isRunning else {
            schedule(at: pacing.now, task)
            return
        }
        enter { LoopWatchdog.run(task) }
    }

    /// Runs what has come in from outside, where no task runs: first what was due before it, then itself, then what it made due.
    private func enter(_ task: () -> Void) {
        onLoop()
        runDue()
        isRunning = true
        pacing.arrive(wall: wall)
        task()
        isRunning = false
        runDue()
    }

    private func runDue() {
        isRunning = true
        defer { isRunning = false }
        while true {
            switch pacing.step(wall: wall) {
            case .run(let task): LoopWatchdog.run(task)
            case .sleep(let deadline):
                handOver()
                if let deadline { setAlarm(for: deadline) }
                return
            }
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
        precondition(nio.inEventLoop, "this is called on the loop; use submit(_:) from other threads")
    }
}
