import EventLoops
import ServiceMessages

/// The app behind a manager: the life cycle of a process, or what is preserved without one. Used on the loop only.
protocol ManagerLifecycle: AnyObject {
    var declaration: AppDeclaration { get }
    /// The path of the app's executable, or nil if unknown.
    var executable: String? { get }
    /// The mark of the process, or of the last process of a preserved app. Nil if unknown.
    var mark: ProcessMark? { get }
    /// A number that grows with each app that enters the foreground, as of this app's last time there (behaviour 3.15).
    var lastInFront: UInt64 { get }
    var phase: AppPhase { get }
    var rules: BackgroundRules { get }
    /// Whether the app has no process that receives events and makes requests.
    var isPreserved: Bool { get }
    var loop: any EventLoop { get }
    /// Called when a manager is sent an event, which may wake or launch the app, or extend its time (behaviours 9.7,
    /// 10.4).
    ///
    /// - Parameter isAwaited: Whether the app waits for the event, which then counts as news even if its kind does not.
    func willDeliver(_ event: Event, _ role: ManagerRole, isAwaited: Bool)
    /// Ends the process as if it had crashed. By default there is none.
    func crash()
}

extension ManagerLifecycle {
    func crash() {}
}
