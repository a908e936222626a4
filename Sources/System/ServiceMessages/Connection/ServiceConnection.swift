import EventLoops
import Synchronization

/// The place of a simulated app, which distinguishes the lines that its code logs from those of other apps.
public struct SimulatedPlace: Hashable, Sendable {
    /// The name of the app.
    public let app: String
    /// The name of the device.
    public let device: String
    /// The seed of the world.
    public let seed: UInt64
    /// The name of the world, such as that of a test; nil if it has none.
    public let world: String?

    /// Creates the place of an app.
    public init(app: String, device: String, seed: UInt64, world: String? = nil) {
        self.app = app
        self.device = device
        self.seed = seed
        self.world = world
    }
}

/// An app's connection to the service.
///
/// `CoreBluetooth` uses the service through this protocol alone. It therefore cannot tell whether the service runs in
/// this process, in a simulation, or in a daemon.
///
/// All members may be used from any thread.
public protocol ServiceConnection: Sendable {
    /// Registers a manager.
    ///
    /// `handler` is called on `queue`, in order, first with ``Event/stateChanged(_:)``, and never before this method
    /// has returned (behaviours 1.1, 13.2). Events of channels, ``Event/channel(_:_:)``, are the exception: they arrive
    /// at once and on any thread, since streams do not wait for the app's queue. The handler must not block on them.
    ///
    /// - Parameters:
    ///   - role: The kind of manager.
    ///   - options: The options that the app created the manager with.
    ///   - queue: The queue of the manager's delegate.
    ///   - handler: Receives the manager's events.
    /// - Returns: The ID of the manager within this connection.
    func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID

    /// Closes a manager and ends all its activities (behaviour 13.6). No event arrives afterwards.
    ///
    /// - Parameter manager: A manager of this connection. If it is closed already, nothing happens.
    func closeManager(_ manager: ManagerID)

    /// Sends a request, and returns without waiting. Its results arrive as events.
    ///
    /// - Parameters:
    ///   - request: The request. One with a list longer than its limit is refused.
    ///   - manager: The manager that makes the request. If it is closed, nothing happens.
    func send(_ request: Request, from manager: ManagerID)

    /// Sends a request like ``send(_:from:)``, with the place in the app that makes it. By default without it.
    func send(_ request: Request, from manager: ManagerID, at site: CallSite)

    /// Sends a query and blocks until the answer arrives.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - manager: The manager that makes the query; ``ManagerID/none`` for a query about the app itself.
    /// - Returns: The answer, or the error if the manager is closed, there is no service, or the query fails.
    /// - Precondition: With a service in another process, the caller is not on the loop that delivers the answer.
    func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError>

    /// Calls `callback` in the same way as events, also where a simulation stops the clock for callbacks.
    ///
    /// - Parameters:
    ///   - callback: The code to call.
    ///   - queue: The queue on which to call it.
    func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue)

    /// Whether the app's code may block until events arrive. False in virtual time, which stands still meanwhile.
    var canWait: Bool { get }

    /// Calls `body` on a manager's queue, in order with its events, and never before this method has returned.
    ///
    /// - Parameters:
    ///   - manager: The manager. If it is closed, nothing is called.
    ///   - body: The code to call.
    func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void)

    /// Calls `body` on a manager's queue once `delay` has passed by the service's clock.
    ///
    /// - Parameters:
    ///   - manager: The manager. If it is closed, nothing is called.
    ///   - delay: The time to wait.
    ///   - body: The code to call.
    /// - Returns: A closure that cancels the call, from any thread.
    func callBack(
        _ manager: ManagerID,
        after delay: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void

    /// The managers that this process of the app was launched to restore (behaviour 10.6).
    var launchedFor: RestoreIdentifiers { get }

    /// Where the app runs, if it runs in a simulation; otherwise nil.
    var place: SimulatedPlace? { get }

    /// The time that the app's code follows, if it is simulated; nil for that of this machine.
    var timekeeper: AppTimekeeper? { get }

    /// Whether the app's process has ended, in a simulation. Its objects may be released later than that.
    var hasEnded: Bool { get }

    /// Reports a call of the app that has no effect, and why, to the observers of the service. The app's own log has it
    /// already (behaviour 1.26).
    ///
    /// - Parameter text: What the call was, and why it has no effect.
    func noteMisuse(_ text: String)

    /// Reports a call like ``noteMisuse(_:)``, with its place in the app. By default without it.
    func noteMisuse(_ text: String, at site: CallSite)

    /// Reports what the service cannot see, to observers that give advice.
    ///
    /// - Parameters:
    ///   - note: The report.
    ///   - manager: The manager that it is about. If it is closed, nothing happens.
    ///   - site: The place in the app, if there is one.
    func note(_ note: AppNote, of manager: ManagerID, at site: CallSite?)

    /// Reports a request of the app that does not have its usual effect. The app's own log has it. By default nothing.
    func noteWarning(_ text: String)
}

extension ServiceConnection {
    /// By default, the identifiers in the environment of this process.
    public var launchedFor: RestoreIdentifiers { .ofThisLaunch }

    /// By default, the app does not run in a simulation.
    public var place: SimulatedPlace? { nil }

    /// By default, the app follows the clock of this machine.
    public var timekeeper: AppTimekeeper? { nil }

    /// By default, the process exists as long as the connection.
    public var hasEnded: Bool { false }

    /// By default, there are no observers.
    public func noteMisuse(_ text: String) {}

    /// By default, the place is not used.
    public func send(_ request: Request, from manager: ManagerID, at site: CallSite) { send(request, from: manager) }

    /// By default, the place is not used.
    public func noteMisuse(_ text: String, at site: CallSite) { noteMisuse(text) }

    /// By default, there are no observers.
    public func note(_ note: AppNote, of manager: ManagerID, at site: CallSite?) {}

    /// By default, there are no observers of warnings.
    public func noteWarning(_ text: String) {}

    /// By default, `delay` is measured by the clock of this machine. A service in another process uses the same clock.
    public func callBack(
        _ manager: ManagerID,
        after delay: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let timer = Task {
            try await Task.sleep(for: delay)
            callBack(manager, body)
        }
        return { timer.cancel() }
    }

    /// By default, dispatches to `queue` at once.
    public func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue) { queue.async(callback) }

    /// By default, the app's code may block.
    public var canWait: Bool { true }
}

/// A connection without a controller. It reports to every manager that Bluetooth is unsupported, and nothing else.
package final class UnsupportedConnection: ServiceConnection {
    private let outlets = Mutex<(last: UInt32, open: [ManagerID: EventOutlet])>((0, [:]))

    package init() {}

    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let outlet = EventOutlet(queue: queue, handler: handler)
        let id = outlets.withLock { outlets in
            outlets.last += 1
            outlets.open[ManagerID(outlets.last)] = outlet
            return ManagerID(outlets.last)
        }
        outlet.call { handler(.stateChanged(.unsupported)) }
        return id
    }

    package func closeManager(_ manager: ManagerID) {
        outlets.withLock { $0.open.removeValue(forKey: manager) }?.close()
    }

    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        outlets.withLock { $0.open[manager] }?.call(body)
    }

    package func send(_ request: Request, from manager: ManagerID) {}

    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.operationNotSupported, reason: "there is no controller"))
    }
}
