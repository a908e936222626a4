import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// The time of a world, for the code of one of its apps. See ``AppTimekeeper/Source``.
final class SimulatedTime: AppTimekeeper.Source {
    private let loop: VirtualEventLoop
    private let process: LoopBound<SimulatedProcess>
    private weak let app: InProcessConnection?
    let calendarStart: Int64

    init(
        _ process: LoopBound<SimulatedProcess>,
        _ connection: InProcessConnection,
        loop: VirtualEventLoop,
        start: Double
    ) {
        self.loop = loop
        self.process = process
        calendarStart = Int64(start * 1e9)
        app = connection
    }

    var connection: (any ServiceConnection)? { app }
    var now: Instant { loop.reading }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let timer = Mutex<ScheduledTask?>(nil)
        // Computed here, because the clock may have advanced when the loop comes to it.
        let due = loop.reading + delay
        loop.submit { [self] in
            let task = loop.schedule(at: due) { [self] in process.value.run(body) }
            timer.withLock { $0 = task }
        }
        // Submitted after the start of the timer, so the task is set by then.
        return { [loop] in loop.submit { if let task = timer.withLock({ $0 }) { loop.cancel(task) } } }
    }

    func deliver(on queue: any CallbackQueue, _ body: @escaping @Sendable () -> Void) {
        loop.submit { [self] in process.value.run { [loop] in loop.deliver(on: queue, body) } }
    }

    func beginWork() { loop.beginWork() }
    func endWork() { loop.endWork() }
    func beginThread() { loop.beginThread() }
    func endThread() { loop.endThread() }

    func noteWait(_ function: String) { app?.noteWait(function) }
}

/// The executor of a simulated app's tasks.
///
/// It runs the jobs one after the other, in the order in which they became ready, like callbacks of the app. In virtual
/// time the clock stands still meanwhile, so that runs with asynchronous code are reproducible.
///
/// Code that is isolated to an actor with an executor of its own, such as the main actor, runs there instead, and time
/// may pass meanwhile.
public final class SimulatedExecutor: TaskExecutor {
    private let queue: AppQueue
    private let loop: any EventLoop
    private let process: LoopBound<SimulatedProcess>

    init(_ label: String, of process: LoopBound<SimulatedProcess>) {
        queue = AppQueue(DispatchQueue(label: label))
        loop = process.loop
        self.process = process
    }

    /// Queues a job of a task. Called by the Swift runtime, on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.submit { [self] in
            process.value.run { [self] in
                loop.deliver(on: queue) { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }
}
