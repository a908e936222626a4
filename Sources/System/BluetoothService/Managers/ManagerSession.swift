import ServiceMessages

/// The service's side of one manager of an app.
protocol ManagerSession: AnyObject {
    /// Called when the radio state changed.
    func stateChanged(to state: ManagerState)
    /// The manager's options, owner and event path.
    var manager: AppManager { get }
    /// Handles a request of the app.
    func handle(_ request: Request)
    /// Called when the ``BackgroundRules`` of the app changed.
    func rulesChanged()
    /// Called when the app's process is gone and the manager lives on. Forgets what the process was waiting for, and
    /// returns the state to restore: the manager's intent, with the state of each part.
    func stateToRestore() -> Event
    /// Carries out what of the manager's intent is not being carried out. Called while the radio is on.
    func carryOutIntent()
    /// The manager's share of the resources that all managers share.
    var holdings: Holdings { get }
    /// Answers a query of the app.
    func answer(_ query: Query) -> Result<Reply, ServiceError>
    /// Called when the manager is gone. Ends all its activities.
    func close()
}

extension ManagerSession {
    /// The last state reported to the app.
    var state: ManagerState { manager.state }
}

/// Identifies a manager among those of all apps.
struct ManagerKey: Hashable {
    let number: UInt64
}
