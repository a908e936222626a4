public import Dispatch

/// A serial queue that can be the executor of an actor. A queue is serial unless it is made concurrent.
public typealias DispatchSerialQueue = DispatchQueue

extension DispatchQueue: @retroactive Executor {}

extension DispatchQueue: @retroactive SerialExecutor {
    /// Runs a job of an actor on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Returns the queue as an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Traps unless the running code is on the queue.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
