import BluetoothTypes
import EventLoops

/// The restore identifiers of the managers that an app is launched for (behaviour 10.6).
public struct RestoreIdentifiers: Hashable, Sendable {
    /// Of central managers.
    public var centrals: [String]
    /// Of peripheral managers.
    public var peripherals: [String]

    /// Identifiers by role.
    public init(centrals: [String] = [], peripherals: [String] = []) {
        self.centrals = centrals
        self.peripherals = peripherals
    }
}

/// Launches apps that have to hear of something. On the loop.
package protocol AppLauncher: AnyObject {
    /// Launches an app in the background. It is to make its managers at once (behaviour 10.6).
    ///
    /// A launcher that cannot start the process, or whose process ends before it has connected, calls
    /// ``BluetoothSystem/launchEnded(_:)``.
    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers)

    /// Whether a process runs that had connected to a service before this one.
    func isRunning(_ process: ProcessMark) -> Bool
}

extension AppLauncher {
    /// False: for launchers whose processes end with the service.
    package func isRunning(_ process: ProcessMark) -> Bool { false }
}

/// What is kept of an app whose process is gone: its managers with a restore identifier go on, and what they have to tell waits.
/// Something that would wake the app launches it (behaviours 10.3 to 10.7). Lives on the loop.
final class PreservedApp {
    /// A manager that goes on without its app.
    struct Kept {
        let identifier: String
        let role: ManagerRole
        let manager: AppManager
        let session: any ManagerSession
        /// What it was when its app ended, or the radio came back.
        var state: Event
        /// What it had been told of the radio.
        var radio: ManagerState
        /// What has to be asked for when the radio comes back; nil while it is there, and the session goes on by itself.
        var wishes: [Request]?
    }

    /// How long what was kept waits for its manager, once a process of the app runs (behaviour 10.6).
    static let patience = Duration.seconds(10)
    /// How often to look whether a process that may come back by itself still runs.
    static let lookInterval = Duration.milliseconds(50)

    /// The process that is to make the managers, with the time that it has left. Each process has its own: one that ends early takes
    /// nothing with it (behaviour 10.15).
    private enum Heir {
        /// There is none. The next event launches the app.
        case none
        /// A process was launched, and has not connected yet.
        case launched(ScheduledTask)
        /// A process has connected.
        case running(ObjectIdentifier, ScheduledTask)
    }

    let identity: AppIdentity
    let life: AppLife
    /// Called once nothing is kept any more.
    var onEnd: (() -> Void)?
    private(set) var managers: [Kept] = []
    private var heir = Heir.none
    /// Whether it would have been launched, had the device been unlocked.
    private var waitsForUnlocking = false
    /// Before this it is not launched while its last process runs: that had the app under another service, and may be about to come to this one.
    private let settlesUntil: Instant
    private unowned let system: BluetoothSystem

    /// What is kept of an app.
    init(_ identity: AppIdentity, living life: AppLife, settlesUntil: Instant, system: BluetoothSystem) {
        self.identity = identity
        self.system = system
        self.settlesUntil = settlesUntil
        self.life = life
        self.life.onChange = { [weak self] in self?.lifeChanged($0) }
    }

    /// Which managers an app has to make.
    var identifiers: RestoreIdentifiers {
        RestoreIdentifiers(
            centrals: managers.filter { $0.role == .central }.map(\.identifier),
            peripherals: managers.filter { $0.role == .peripheral }.map(\.identifier)
        )
    }

    /// Whether a process was launched that has not connected yet.
    var isLaunched: Bool { if case .launched = heir { true } else { false } }

    /// Keeps a manager. Beyond ``ServiceLimits/managers`` the oldest one is given up.
    func add(_ kept: Kept) {
        managers.append(kept)
        guard managers.count > ServiceLimits.managers else { return }
        let oldest = managers.removeFirst()
        system.trouble("\(identity.name) leaves too many managers: \(oldest.identifier.quotedName) is given up")
        system.end(oldest)
    }

    /// The radio is about to be another one for a manager: what it has going on is to begin anew.
    func willChangeState(of session: any ManagerSession) {
        guard let index = managers.firstIndex(where: { $0.session === session }) else { return }
        if session.state == .poweredOn { managers[index].wishes = session.wishes }
    }

    /// Gives a manager to the app that has made it anew. Of two with one identifier it is the older one (behaviour 10.1).
    func take(_ role: ManagerRole, _ identifier: String) -> Kept? {
        guard let index = managers.firstIndex(where: { $0.role == role && $0.identifier == identifier }) else {
            return nil
        }
        defer { endIfEmpty() }
        return managers.remove(at: index)
    }

    /// A process of the app has connected. What it does not take over in time is given up.
    func processBegan(_ process: App) {
        endPatience()
        heir = .running(ObjectIdentifier(process), startPatience())
    }

    /// A process of the app has ended. What it has not taken over stays, and waits for the next event.
    func processEnded(_ process: App) {
        guard case .running(ObjectIdentifier(process), _) = heir else { return }
        waitForEvent()
    }

    /// The process that was launched runs, and is to connect. A service that begins meanwhile launches no second one.
    func started(as mark: ProcessMark) {
        guard case .launched = heir else { return }
        life.started(as: mark)
        system.noteChange(of: identity)
    }

    /// A process that was launched has ended before it connected, or could not be started.
    func launchEnded() {
        guard case .launched = heir else { return }
        waitForEvent()
        system.relaunches.handle(.launchFailed, of: identity)
    }

    private func waitForEvent() {
        endPatience()
        life.sleepAgain()
    }

    private func startPatience() -> ScheduledTask {
        system.loop.schedule(after: Self.patience) { [weak self] in
            self?.heir = .none
            self?.discard()
        }
    }

    private func endPatience() {
        switch heir {
        case .none: break
        case .launched(let timer), .running(_, let timer): system.loop.cancel(timer)
        }
        heir = .none
    }

    /// The radio is on again: what the managers were about begins anew, and an app finds them so (behaviour 10.15).
    func radioIsBack() {
        for index in managers.indices where managers[index].session.state == .poweredOn {
            let kept = managers[index]
            guard let wishes = kept.wishes else { continue }
            kept.session.resume(wishes)
            managers[index].wishes = nil
            managers[index].state = kept.session.preserve()
            managers[index].radio = .poweredOn
            kept.manager.forgetWaiting()
        }
    }

    /// Gives up all that is kept.
    func discard() {
        let given = managers
        managers = []
        for kept in given { system.end(kept) }
        system.scansChanged()
        endIfEmpty()
    }

    private func endIfEmpty() {
        guard managers.isEmpty else { return }
        endPatience()
        life.handle(.ended(.removedFromMemory))
        onEnd?()
    }

    private func lifeChanged(_ action: AppLifecycle.Action?) {
        guard action == .resume else { return }
        // What woke it is still being told.
        system.loop.execute { [weak self] in self?.launch() }
    }

    /// The device was unlocked for the first time after its start: what was to be launched is (behaviour 10.24).
    func deviceWasUnlocked() {
        guard waitsForUnlocking else { return }
        waitsForUnlocking = false
        launch()
    }

    /// Launches the app, at once or when its pause is over (behaviour 10.25).
    private func launch() {
        guard canLaunch() else { return }
        if isReturning {
            system.loop.schedule(after: Self.lookInterval) { [weak self] in self?.launch() }
        } else {
            system.relaunches.handle(.wanted, of: identity)
        }
    }

    /// Whether the last process of the app may come by itself, from the service before this one.
    private var isReturning: Bool {
        guard system.loop.now < settlesUntil, let mark = life.mark else { return false }
        return system.launcher?.isRunning(mark) ?? false
    }

    /// Launches the app now, unless a process of it is there or on its way.
    func startProcess() {
        guard canLaunch(), let launcher = system.launcher else { return }
        heir = .launched(startPatience())
        system.observers.tell(.managers, .appLaunched(identifiers), of: Observation.Subject(app: identity))
        launcher.launch(identity, restoring: identifiers)
    }

    private func canLaunch() -> Bool {
        guard !managers.isEmpty, case .none = heir else { return false }
        guard !system.isLocked else {
            waitsForUnlocking = true
            return false
        }
        let hasProcess = system.runningApps.contains { $0.identity == identity }
        guard !hasProcess, system.launcher != nil else {
            waitForEvent()
            return false
        }
        return true
    }
}
