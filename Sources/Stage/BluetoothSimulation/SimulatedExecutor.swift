import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages

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
