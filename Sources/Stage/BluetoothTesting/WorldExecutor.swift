import Dispatch

/// The thread of a world. A test that ran its world on a thread of the cooperative pool would keep the tasks of apps
/// from running.
final class WorldExecutor: TaskExecutor {
    let queue: DispatchQueue

    init(_ name: String) {
        queue = DispatchQueue(label: "the world of \(name)")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
