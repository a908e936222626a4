import ServiceMessages

/// The service's side of one manager of an app.
protocol ManagerSession: AnyObject {
    func stateChanged(to state: ManagerState)
    var manager: AppManager { get }
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
    func answer(_ query: Query) -> Result<Reply, ServiceError>
    /// Called when the manager is gone. Ends all its activities.
    func close()
}

extension ManagerSession {
    var state: ManagerState { manager.state }
}

/// Identifies a manager among those of all apps.
struct ManagerKey: Hashable {
    let number: UInt64
}

/// The amounts that a manager has of the shared resources.
struct Holdings {
    var scans = 0
    var peers = 0
    var attributes = 0
    var publishedChannels = 0
    var channels = 0
    var advertisers = 0
}
