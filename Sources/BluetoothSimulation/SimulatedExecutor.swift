import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops

/// Runs the tasks of a simulated app, one piece after the other, in the order in which they became ready, as callbacks of the
/// app: in virtual time the clock stands still meanwhile, so that code with `await` is the same in every run.
///
/// What is isolated to an actor with an executor of its own, the main actor before all, runs there, and time may go on.
public final class SimulatedExecutor: TaskExecutor {
    private let queue: AppQueue
    private let loop: any EventLoop
    private let process: LoopBound<SimulatedProcess>

    init(_ label: String, of process: LoopBound<SimulatedProcess>) {
        queue = AppQueue(DispatchQueue(label: label))
        loop = process.loop
        self.process = process
    }

    /// Queues a piece of a task.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.submit { [self] in
            process.value.run { [self] in
                loop.deliver(on: queue) { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }
}
