import BluetoothTypes
import EventLoops
import ServiceMessages

/// The preserved state of an app whose process is gone. Its managers with a restore identifier live on, and their
/// events are queued. An event that would wake the app launches it (behaviours 10.3 to 10.7). Used on the loop only.
final class PreservedApp {
    /// A manager that outlives its process.
    struct Kept {
        let session: any ManagerSession
        /// The state to restore, as of the end of the process or the return of the radio.
        var state: Event
        /// The last radio state reported to the process.
        var radio: ManagerState

        var manager: AppManager { session.manager }
        var role: ManagerRole { manager.role }
        var identifier: String { manager.options.restoreIdentifier ?? "" }
    }

    /// How long a process of the app has to create its managers before the state is discarded (behaviour 10.6).
    static let reclaimTimeout = AppManager.reclaimTimeout
    /// How often to check whether a process that may reconnect by itself still runs.
    static let checkInterval = Duration.milliseconds(50)

    /// The process that is expected to create the managers, with a timer for the time it has left. Each process has its
    /// own timer, so a process that ends early takes nothing with it (behaviour 10.15).
    private enum Successor {
        /// No process. The next event launches the app.
        case none
        /// No process, and only the user can start one (behaviour 10.27); whether an event would launch one.
        case unlaunchable(ScheduledTask, isWanted: Bool)
        /// A launched process that has not connected yet.
        case launched(ScheduledTask)
        /// A process that has connected.
        case running(ObjectIdentifier, ScheduledTask)
    }

    let identity: AppIdentity
    let lifecycle: PreservedLifecycle
    /// Called once no manager is left.
    var onEnd: (() -> Void)?
    private(set) var managers: [Kept] = []
    private var successor = Successor.none
    private var isLaunching = false
    private var waitsForUnlocking = false
    /// Until this time the app is not launched while its last process runs. That process was connected to a previous
    /// service, and may be about to connect to this one.
    private let settlesUntil: Instant
    private unowned let apps: Apps

    init(_ identity: AppIdentity, living lifecycle: PreservedLifecycle, settlesUntil: Instant, apps: Apps) {
        self.identity = identity
        self.apps = apps
        self.settlesUntil = settlesUntil
        self.lifecycle = lifecycle
        self.lifecycle.onLaunch = { [weak self] in self?.launchSoon() }
    }

    var identifiers: RestoreIdentifiers {
        RestoreIdentifiers(
            centrals: managers.filter { $0.role == .central }.map(\.identifier),
            peripherals: managers.filter { $0.role == .peripheral }.map(\.identifier)
        )
    }

    var isLaunched: Bool { if case .launched = successor { true } else { false } }

    /// Adds a manager. Beyond ``ServiceLimits/managers`` the oldest one is discarded.
    func add(_ kept: Kept) {
        managers.append(kept)
        guard managers.count > ServiceLimits.managers else { return }
        let oldest = managers.removeFirst()
        apps.observers.trouble(
            "\(identity.name) has too many preserved managers: \(oldest.identifier.quotedName) is discarded"
        )
        apps.preservation.end(oldest)
    }

    /// Removes and returns the manager that an app has created anew, or nil if there is none. Of two with the same
    /// identifier it is the older one (behaviour 10.1).
    func take(_ role: ManagerRole, _ identifier: String) -> Kept? {
        guard let index = managers.firstIndex(where: { $0.role == role && $0.identifier == identifier }) else {
            return nil
        }
        defer { endIfEmpty() }
        return managers.remove(at: index)
    }

    /// Called when a process of the app has connected. What it does not take over in time is discarded.
    func processBegan(_ process: App) {
        reclaimTimedOut()
        successor = .running(ObjectIdentifier(process), startReclaimTimer())
    }

    /// Called when a process of the app has ended. Managers that it has not taken over wait for the next event.
    func processEnded(_ process: App) {
        guard case .running(ObjectIdentifier(process), _) = successor else { return }
        reclaimTimedOut()
    }

    /// Called when the app has no process. If the system cannot launch one either, nothing can use the connections of
    /// the app, which then end after ``reclaimTimeout``.
    func reviewInstallation() {
        guard !managers.isEmpty, case .none = successor, !isInstalled else { return }
        let timer = apps.loop.schedule(after: Self.reclaimTimeout) { [weak self] in self?.installationIsDue() }
        successor = .unlaunchable(timer, isWanted: false)
    }

    private func installationIsDue() {
        guard case .unlaunchable(_, let isWanted) = successor else { return }
        successor = .none
        guard !isInstalled else { return isWanted ? launchSoon() : () }
        apps.observers.trouble(
            "the preserved state of \(identity.name.quotedName) is discarded: the app is not installed, so nothing can launch it"
        )
        discard()
    }

    private var isInstalled: Bool { apps.preservation.launcher?.isInstalled(identity) ?? true }

    /// Called when the launched process runs, so that a service that starts before it connects launches no other one.
    func started(as mark: ProcessMark) {
        guard case .launched = successor else { return }
        lifecycle.started(as: mark)
        apps.records.noteChange(of: identity)
    }

    func launchEnded() {
        guard case .launched = successor else { return }
        reclaimTimedOut()
        apps.preservation.relaunches.handle(.launchFailed, of: identity)
    }

    private func startReclaimTimer() -> ScheduledTask {
        apps.loop.schedule(after: Self.reclaimTimeout) { [weak self] in
            self?.successor = .none
            self?.discard()
        }
    }

    /// The next event launches the app.
    private func reclaimTimedOut() {
        switch successor {
        case .none: break
        case .launched(let timer), .running(_, let timer), .unlaunchable(let timer, _): apps.loop.cancel(timer)
        }
        successor = .none
    }

    /// Called when the radio is on again. Carries out the intents, and updates the state to restore (behaviour 10.15).
    func radioReturned() {
        for index in managers.indices where managers[index].session.state == .poweredOn {
            let kept = managers[index]
            guard kept.manager.awaitsRadio else { continue }
            kept.session.carryOutIntent()
            managers[index].state = kept.session.stateToRestore()
            managers[index].radio = .poweredOn
            kept.manager.forgetWaiting()
        }
    }

    func discard() {
        let given = managers
        managers = []
        for kept in given { apps.preservation.end(kept) }
        apps.scan.changed()
        endIfEmpty()
    }

    private func endIfEmpty() {
        guard managers.isEmpty else { return }
        reclaimTimedOut()
        onEnd?()
    }

    /// Launches the app in a task of its own, because the event is still being delivered.
    private func launchSoon() {
        if case .unlaunchable(let timer, _) = successor {
            guard isInstalled else { return successor = .unlaunchable(timer, isWanted: true) }
            reclaimTimedOut()
        }
        guard !isLaunching, case .none = successor else { return }
        isLaunching = true
        apps.loop.execute { [weak self] in self?.launch() }
    }

    /// Called when the device is first unlocked after its start. Performs the launch that waited (behaviour 10.24).
    func deviceWasUnlocked() {
        guard waitsForUnlocking else { return }
        waitsForUnlocking = false
        launch()
    }

    /// Launches the app, at once or after the pause of its ``LaunchBackoff`` (behaviour 10.25).
    private func launch() {
        isLaunching = false
        guard canLaunch() else { return }
        if isReturning {
            isLaunching = true
            apps.loop.schedule(after: Self.checkInterval) { [weak self] in self?.launch() }
        } else {
            apps.preservation.relaunches.handle(.wanted, of: identity)
        }
    }

    /// Whether the app's last process, which was connected to the previous service, may reconnect by itself.
    private var isReturning: Bool {
        guard apps.loop.now < settlesUntil, let mark = lifecycle.mark else { return false }
        return apps.preservation.launcher?.isRunning(mark) ?? false
    }

    /// Launches the app now, unless a process is connected or being launched.
    func startProcess() {
        guard canLaunch(), let launcher = apps.preservation.launcher else { return }
        successor = .launched(startReclaimTimer())
        apps.observers.report(.managers, .appLaunched(identifiers), of: Observation.Subject(app: identity))
        launcher.launch(identity, restoring: identifiers)
    }

    private func canLaunch() -> Bool {
        guard !managers.isEmpty, case .none = successor else { return false }
        guard !apps.preservation.isLocked else {
            waitsForUnlocking = true
            return false
        }
        let hasProcess = apps.running.contains { $0.identity == identity }
        return !hasProcess && apps.preservation.launcher != nil
    }
}
