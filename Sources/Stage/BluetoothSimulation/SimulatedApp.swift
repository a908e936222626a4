import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages

/// A launch of an app on a ``SimulatedDevice``.
///
/// All methods may be called from any thread.
public struct SimulatedApp: Sendable {
    /// The name of the app, which identifies it on its device.
    public let name: String
    /// The device that the app runs on.
    public let device: SimulatedDevice
    let process: Process

    /// One process of an app.
    struct Process: Sendable {
        let connection: InProcessConnection
        let inner: LoopBound<SimulatedProcess>
        let executor: SimulatedExecutor
    }

    /// The executor of ``task(_:)``. Its tasks run as the app's callbacks do.
    public var executor: SimulatedExecutor { process.executor }
    var connection: InProcessConnection { process.connection }

    /// Runs asynchronous code of the app, in the time of the world.
    ///
    /// Core Bluetooth objects that it creates belong to this app. The code may sleep by the clock of the world. In
    /// virtual time the world does not wait for code that is isolated to the main actor; see ``SimulatedExecutor``.
    ///
    /// - Parameter operation: The code.
    /// - Returns: The task.
    @discardableResult
    public func task<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        if connection.hasEnded { noteUseOfEndedProcess("task(_:)") }
        return ServiceLocator.$current.withValue(connection) {
            Task(executorPreference: executor, operation: operation)
        }
    }

    /// Calls `tick` repeatedly in the time of the world: a timer for apps whose runs have to be reproducible.
    ///
    /// The timer stands still while the app is suspended, and ends with its process.
    ///
    /// - Parameters:
    ///   - interval: The time before the first call and between calls.
    ///   - queue: The queue on which `tick` is called.
    ///   - tick: The code to call.
    public func everyInterval(_ interval: Duration, on queue: DispatchQueue, _ tick: @escaping @Sendable () -> Void) {
        let (queue, process) = (AppQueue(queue), process.inner)
        if connection.hasEnded { noteUseOfEndedProcess("everyInterval(_:on:_:)") }
        process.loop.submit { process.value.everyInterval(interval, on: queue, tick) }
    }

    private func noteUseOfEndedProcess(_ call: String) {
        device.world.loop.submit { [self] in
            device.ignored("\(call) of \(name): the app is \(connection.phase.words)")
        }
    }

    /// Returns a function that calls a block once on a queue, after a time of the world. The function does not retain
    /// the world. It does nothing once the process has ended.
    package func timer(on queue: DispatchQueue) -> @Sendable (Duration, @escaping @Sendable () -> Void) -> Void {
        let (queue, process) = (AppQueue(queue), process.inner)
        return { delay, body in process.loop.submit { process.value.after(delay, on: queue, body) } }
    }
}
