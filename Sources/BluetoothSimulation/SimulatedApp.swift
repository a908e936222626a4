import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops

/// An app on a ``SimulatedDevice``, with the clock of its world.
public struct SimulatedApp: Sendable {
    /// What the app is called.
    public let name: String
    /// The device that it runs on.
    public let device: SimulatedDevice
    let process: Process

    /// One launch of an app.
    struct Process: Sendable {
        let connection: InProcessConnection
        let inner: LoopBound<SimulatedProcess>
        let executor: SimulatedExecutor
    }

    /// Where ``task(_:)`` runs.
    public var executor: SimulatedExecutor { process.executor }
    /// Its line to the service.
    var connection: InProcessConnection { process.connection }

    /// Runs code that waits, in the time of the world; Core Bluetooth objects that it makes belong to this app. `operation` may
    /// sleep by the clock of the world, and what is isolated to the main actor is not waited for (``SimulatedExecutor``).
    @discardableResult
    public func task<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        ServiceLocator.$current.withValue(connection) {
            Task(executorPreference: executor, operation: operation)
        }
    }

    /// Calls `tick` on `queue` again and again, first after `interval`, in the time of the world: the timer of an app that
    /// wants to be the same in every run.
    public func everyInterval(_ interval: Duration, on queue: DispatchQueue, _ tick: @escaping @Sendable () -> Void) {
        let (queue, process) = (AppQueue(queue), process.inner)
        process.loop.submit { process.value.everyInterval(interval, on: queue, tick) }
    }
}
