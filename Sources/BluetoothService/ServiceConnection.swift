import EventLoops

/// An app's line to the service. `CoreBluetooth` knows the service through this alone, and so cannot tell whether it runs in
/// this process, in a simulation, or in a daemon.
///
/// Everything may be called from any thread.
public protocol ServiceConnection: Sendable {
    /// Registers a manager. Its events come on `queue`, in order, beginning with ``Event/stateChanged(_:)``, and never
    /// before this method has returned (behaviours 1.1, 13.2). What comes on its channels, ``Event/channel(_:_:)``, comes at
    /// once and on any thread, since streams do not wait for the app's queue; whoever takes it does not wait either.
    func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID

    /// Ends everything that the manager has going on (behaviour 13.6). No event comes after.
    func closeManager(_ manager: ManagerID)

    /// Sends a request; what comes of it comes as events.
    func send(_ request: Request, from manager: ManagerID)

    /// Asks, and waits for the answer.
    func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError>

    /// Calls the app back as its events are, also where a simulation stops the clock for that. From any thread.
    func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue)

    /// Whether an app's code may wait for what comes: not in virtual time, where nothing comes while it does.
    var canWait: Bool { get }

    /// Calls `body` on the queue of a manager, in order with its events, and never before this method has returned.
    func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void)

    /// Calls `body` on the queue of a manager when `delay` has passed by the clock of the service.
    ///
    /// - Returns: What gives that up; from any thread.
    func callBack(
        _ manager: ManagerID,
        after delay: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void

    /// The managers that this process of the app was launched for (behaviour 10.6).
    var launchedFor: RestoreIdentifiers { get }

    /// Says what the app did that has no effect, and why, for those who observe the service; the app's log has it already
    /// (behaviour 1.26).
    func noteMisuse(_ text: String)
}

extension ServiceConnection {
    /// Those that the environment of this process names.
    public var launchedFor: RestoreIdentifiers { .ofThisLaunch }

    /// Nobody observes.
    public func noteMisuse(_ text: String) {}

    /// By the clock of this machine, which is also that of a service in another process.
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

    /// Calls back at once.
    public func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue) { queue.async(callback) }

    /// It may.
    public var canWait: Bool { true }
}

/// Names a manager within its app.
public struct ManagerID: Hashable, Sendable {
    /// No manager: who asks is the app itself.
    public static let none = ManagerID(0)

    /// The number.
    public var rawValue: UInt32

    /// The manager with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The two kinds of manager.
public enum ManagerRole: Hashable, Sendable {
    case central
    case peripheral
}

/// What an app gives when it makes a manager.
public struct ManagerOptions: Hashable, Sendable {
    /// Tell the user when Bluetooth is off (behaviour 1.16).
    public var showsPowerAlert: Bool
    /// Opts in to preservation and restoration (behaviour 10.1).
    public var restoreIdentifier: String?
    /// The same process had this manager with a service that has ended: it was told so, and nothing is restored to it.
    public var isReopened = false

    /// Options.
    public init(showsPowerAlert: Bool, restoreIdentifier: String? = nil) {
        self.showsPowerAlert = showsPowerAlert
        self.restoreIdentifier = restoreIdentifier
    }
}
