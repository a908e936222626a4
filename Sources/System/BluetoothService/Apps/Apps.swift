import EventLoops
import HCI
import HCIHost
import ServiceMessages

/// The apps of a system: their processes and managers, the user's decisions about them, their preserved state and their
/// records. Used on the loop only.
package final class Apps {
    let configuration: SystemConfiguration
    let loop: any EventLoop
    let observers: Observers
    let controllers: Controllers
    let peers: Peers
    let managers: ManagerTable
    let scan: SharedScan
    package private(set) lazy var permissions = AppPermissions(self)
    package private(set) lazy var preservation = Preservation(self)
    package let accessories: SetUpAccessories
    private(set) lazy var records = AppRecords(self)

    private let makeSession: (ManagerKey, AppManager) -> any ManagerSession
    private var lastInFront: UInt64 = 0
    private var launches: [WeakApp] = []

    private struct WeakApp {
        weak var app: App?
    }

    init(
        _ links: SharedLinks,
        _ scan: SharedScan,
        makeSession: @escaping (ManagerKey, AppManager) -> any ManagerSession
    ) {
        (configuration, loop, observers) = (links.configuration, links.loop, links.observers)
        (controllers, peers, managers) = (links.controllers, links.peers, links.managers)
        self.scan = scan
        self.makeSession = makeSession
        accessories = SetUpAccessories(isAvailable: links.configuration.version.has(.accessorySetup))
        accessories.onChange = { [weak self] in self?.accessoryChanged($2, $1, of: $0) }
    }

    func start() { records.open() }

    /// Launches no more apps, and saves the current state.
    func stop() {
        preservation.stop()
        records.close()
    }

    // MARK: Processes

    /// The apps that have a process, the oldest first.
    package var running: [App] { launches.compactMap(\.app).filter(\.lifecycle.hasProcess) }

    /// Connects an app that runs in a process.
    ///
    /// - Parameter system: Stays alive as long as the app.
    func make(
        _ identity: AppIdentity,
        _ declaration: AppDeclaration,
        of program: AppProgram,
        inBackground: Bool,
        keeping system: AnyObject
    ) -> App {
        let app = App(identity, declaration, of: program, inBackground: inBackground, apps: self, keeping: system)
        launches.removeAll { $0.app == nil }
        launches.append(WeakApp(app: app))
        // Apps are in the foreground at first, unless this says otherwise.
        if app.phase != .foreground {
            observers.report(.managers, .appMoved(app.phase), of: Observation.Subject(app: identity))
        }
        return app
    }

    // MARK: Managers

    /// Creates a manager and its session, without an initial event.
    ///
    /// - Parameter intent: What a previous system has recorded, or nil for a new manager.
    func makeManager(
        _ role: ManagerRole,
        _ options: ManagerOptions,
        _ subject: Observation.Subject,
        _ sink: (any EventSink)?,
        _ lifecycle: any ManagerLifecycle,
        recorded intent: Intent? = nil
    ) -> (key: ManagerKey, manager: AppManager, session: any ManagerSession) {
        let key = managers.nextKey()
        let manager = AppManager(
            role,
            options,
            subject,
            sink,
            lifecycle,
            recorded: intent,
            observers,
            managers,
            accessories,
            mayUseBluetooth: { [weak self] in self?.permission(of: $0) == .allowedAlways },
            noteChange: { [weak self] in self?.records.noteChange(of: $0) }
        )
        return (key, manager, makeSession(key, manager))
    }

    /// Adds a manager and reports the state to it, at once or when it is known.
    func add(_ session: any ManagerSession, _ key: ManagerKey, of app: AppIdentity) {
        managers.add(session, key, of: app)
        records.noteChange(of: app)
        let state = state(for: session, of: app)
        if state != .unknown { session.stateChanged(to: state) }
    }

    func remove(_ session: any ManagerSession) {
        if let app = managers.remove(session) { records.noteChange(of: app) }
    }

    /// Returns why an app may not have another manager, or nil if it may. Discards preserved apps to make room; the app
    /// that was in the foreground longest ago goes first.
    func refusalOfManager(of app: AppIdentity) -> ServiceError? {
        while true {
            let quota = ServiceLimits.sharedManagers
            let (room, scope) = quota.room(for: app, beside: managers.countsByApp)
            guard room < 1 else { return nil }
            let kept = preservation.apps.values.filter {
                scope == .app ? $0.identity == app : $0.identity.owner == app.owner
            }
            guard let oldest = kept.min(by: { $0.lifecycle.lastInFront < $1.lifecycle.lastInFront }) else {
                return quota.refusal("managers", for: app, beside: managers.countsByApp)
            }
            observers.trouble(
                "user \(app.owner) has too many managers: the preserved state of \(oldest.identity.name) is discarded"
            )
            oldest.discard()
        }
    }

    // MARK: The state of the radio

    /// Returns the radio state as reported to a manager. It depends on the permission of its app, or on whether the app
    /// has an accessory (behaviours 1.18, 1.23).
    private func state(for session: any ManagerSession, of app: AppIdentity) -> ManagerState {
        switch permission(of: app) {
        case .denied, .restricted: .unauthorized
        case .notDetermined where session.manager.needsPermission: .unknown
        case .allowedAlways, .notDetermined:
            controllers.state == .poweredOn && !session.manager.hasReach ? .poweredOff : controllers.state
        }
    }

    func info(for app: AppIdentity) -> SystemInfo {
        SystemInfo(
            hasExtendedScanAndConnect: configuration.version.has(.extendedFeature)
                && controllers.readyInformation?.supportsExtendedAdvertising == true,
            permission: permission(of: app),
            hasChannelSounding: configuration.version.has(.channelSounding) && configuration.allowsChannelSounding
                && controllers.readyInformation?.supports(LECSProcedureEnable.self) == true
        )
    }

    /// Reports the state to all managers for which it has changed, because the radio or a permission did.
    func reportStates() {
        for manager in managers.entries {
            let state = state(for: manager.session, of: manager.app)
            if manager.session.state != state { manager.session.stateChanged(to: state) }
        }
        for app in preservation.ordered { app.radioReturned() }
    }

    /// Called when an app has another accessory, or has lost one. Its bond ends with the last app that had set it up
    /// (behaviour 16.7).
    private func accessoryChanged(_ accessory: SetUpAccessory, _ kind: SetupEvent.Kind, of app: AppIdentity) {
        let peer = accessory.identifier
        let sessions = managers.sessions(of: app)
        if kind == .accessoryRemoved {
            for session in sessions { (session as? CentralSession)?.loseAccessory(peer) }
            if accessories.apps(with: peer).isEmpty { try? peers.forget(peer) }
        }
        for session in sessions { (session as? AccessorySetupSession)?.emit(kind, accessory) }
        records.keep(AccessoryRecord(accessories.table))
        reportStates()
    }

    package func permission(of app: AppIdentity) -> AppPermission { permissions.permission(of: app) }

    /// Returns a number that is greater than all before, for an app that enters the foreground.
    func nextInFront() -> UInt64 {
        lastInFront += 1
        return lastInFront
    }
}
