import BluetoothTypes
import EventLoops
import HCIHost
import ServiceMessages

/// One app with its managers. The service decides how long it lasts, independently of whether a process receives its
/// events. Used on the loop only.
package final class App {
    package let identity: AppIdentity
    let lifecycle: ProcessLifecycle
    private let beginning: Instant
    private let apps: Apps
    /// Keeps everything alive that ``apps`` depends on, for as long as the app is connected.
    private let system: AnyObject
    private var managers: [ManagerID: (manager: AppManager, session: any ManagerSession)] = [:]
    private lazy var gate = RecordGate(of: self)

    init(
        _ identity: AppIdentity,
        _ declaration: AppDeclaration,
        of program: AppProgram,
        inBackground: Bool,
        apps: Apps,
        keeping system: AnyObject
    ) {
        self.identity = identity
        self.apps = apps
        self.system = system
        beginning = apps.loop.now
        lifecycle = ProcessLifecycle(
            declaration,
            program.executable,
            inBackground: inBackground,
            version: apps.configuration.version,
            loop: apps.loop
        ) { [unowned apps] in apps.nextInFront() }
        lifecycle.onChange = { [weak self] in self?.lifecycleChanged($0) }
        apps.permissions.begin(identity, declaration.kind)
        apps.permissions.forget(ofOtherProgramsThan: self)
        apps.preservation.processBegan(self, running: program)
    }

    /// Opens a manager under the ID that the app chose. Its events go to `sink`.
    package func openManager(_ id: ManagerID, _ role: ManagerRole, _ options: ManagerOptions, _ sink: any EventSink) {
        guard lifecycle.isRunning else {
            return lifecycle.whenRunning(octets: options.octets) { [self] in openManager(id, role, options, sink) }
        }
        gate.submit(.open(id, role, options, sink))
    }

    private func open(_ id: ManagerID, _ role: ManagerRole, _ options: ManagerOptions, _ sink: any EventSink) {
        if let refusal = apps.configuration.version.refusal(of: lifecycle.declaration.kind) {
            return refuse(id, sink, refusal)
        }
        guard managers.count < ServiceLimits.managers else {
            return refuse(id, sink, "\(identity.name) has \(ServiceLimits.managers) managers already")
        }
        var options = options
        // The other roles have no state to restore.
        if !role.isOfBluetooth { options.restoreIdentifier = nil }
        if let identifier = options.restoreIdentifier, isTaken(identifier, role) {
            // Behaviour 10.26.
            let text =
                "another process uses the restore identifier \(identifier.quotedName) already; nothing is restored here"
            apps.observers.misuse(text, by: subject(of: id))
            options.restoreIdentifier = nil
        }
        var left = Intent()
        if let identifier = options.restoreIdentifier,
            let kept = apps.preservation.apps[identity]?.take(role, identifier)
        {
            guard options.isReopened else { return adopt(kept, as: id, sink) }
            // The process was notified that its service ended (behaviour 1.4), so it starts over.
            left = kept.manager.recordedIntent
            apps.preservation.end(kept)
        }
        if let refusal = apps.refusalOfManager(of: identity) { return refuse(id, sink, refusal.reason ?? "") }
        let (key, manager, session) = apps.makeManager(role, options, subject(of: id), sink, lifecycle)
        managers[id] = (manager, session)
        if role.isOfBluetooth { lifecycle.handle(.hasManager(true)) }
        manager.expect(left, on: apps.loop)
        apps.observers.report(.managers, .managerOpened(role), of: subject(of: id))
        (session as? AccessorySetupSession)?.activate()
        apps.add(session, key, of: identity)
        // Behaviour 1.16.
        if options.showsPowerAlert, apps.controllers.state == .poweredOff {
            apps.observers.report(.poweredOff(app: name))
        }
        apps.permissions.ask(for: self)
    }

    private func refuse(_ id: ManagerID, _ sink: any EventSink, _ reason: String) {
        apps.observers.misuse("\(reason); this manager stays unsupported", by: subject(of: id))
        sink.accept(.stateChanged(.unsupported), on: apps.loop)
    }

    /// Whether another process of the app has a manager with this restore identifier.
    private func isTaken(_ identifier: String, _ role: ManagerRole) -> Bool {
        apps.running.contains { other in
            guard other !== self, other.identity == identity else { return false }
            return other.openManagers.contains { $1.role == role && $1.options.restoreIdentifier == identifier }
        }
    }

    private func adopt(_ kept: PreservedApp.Kept, as id: ManagerID, _ sink: any EventSink) {
        managers[id] = (kept.manager, kept.session)
        lifecycle.handle(.hasManager(true))
        apps.observers.report(.managers, .managerOpened(kept.role), of: subject(of: id))
        let lost = kept.manager.adopt(
            kept.state,
            radio: kept.radio,
            sink,
            as: subject(of: id),
            in: lifecycle
        )
        noteLoss(of: lost, id)
        kept.session.rulesChanged()
        // The record names the new process.
        apps.records.noteChange(of: identity)
        apps.scan.changed()
    }

    /// Handles the end of the process. Managers live on if they opted in (behaviours 10.1, 10.4), or else end (9.14).
    private func processEnded(_ end: AppEnd) {
        apps.preservation.apps[identity]?.processEnded(self)
        let isKept = apps.preservation.keeps(lifecycle.declaration, after: .processEnded(end))
        // The process asked for these before it ended, so they still count.
        if isKept { gate.open() }
        let opted = isKept ? ids.filter { managers[$0].map { apps.preservation.keeps($0.manager) } ?? false } : []
        for id in opted {
            guard let (manager, session) = managers.removeValue(forKey: id) else { continue }
            let app = apps.preservation.app(identity, after: lifecycle)
            let (news, lost) = manager.processEnded(movingTo: app.lifecycle)
            noteLoss(of: lost, id)
            if session.state == .poweredOn { session.carryOutIntent() }
            app.add(apps.preservation.keep(session, news))
            session.rulesChanged()
        }
        close()
        if !isKept { apps.preservation.discard(of: identity) }
        apps.preservation.processEnded(identity, end, after: apps.loop.now - beginning)
        apps.scan.changed()
    }

    package func closeManager(_ id: ManagerID) { gate.submit(.close(id)) }

    private func close(_ id: ManagerID) {
        guard let (manager, session) = managers.removeValue(forKey: id) else { return }
        if !managers.values.contains(where: \.manager.role.isOfBluetooth) { lifecycle.handle(.hasManager(false)) }
        apps.remove(session)
        apps.observers.report(.managers, .managerClosed, of: subject(of: id)) {
            session.close()
            manager.channels.closeAll()
        }
    }

    func close() {
        gate.clear()
        for id in ids { close(id) }
    }

    /// The name for the user.
    var name: String { lifecycle.declaration.displayName ?? identity.name }

    /// Whether the suspended app made more requests than may wait. Its connection is to be closed.
    package var hasExceededRequestLimit: Bool { lifecycle.hasDropped }

    /// Handles a request from a manager.
    ///
    /// - Parameter site: The place in the app that makes the request, if it is known.
    package func handle(_ request: Request, from id: ManagerID, at site: CallSite? = nil) {
        guard lifecycle.isRunning else {
            // Counted by its encoded size, which is about the memory that it occupies while it waits.
            return lifecycle.whenRunning(octets: request.encoded().count) { [self] in
                handle(request, from: id, at: site)
            }
        }
        gate.submit(.request(id, request, site))
    }

    private func perform(_ request: Request, from id: ManagerID, _ site: CallSite?) {
        guard let (manager, session) = managers[id] else { return }
        if let error = request.listError { return refuse(request, error, for: manager, id) }
        apps.observers.report(.messages, .requested(request), of: subject(of: id).about(request.peer), at: site) {
            if case .channel(let channel, let request) = request {
                manager.channels.handle(request, of: channel)
            } else {
                session.handle(request)
            }
        }
    }

    private func refuse(_ request: Request, _ error: ServiceError, for manager: AppManager, _ id: ManagerID) {
        apps.observers.misuse("refused a request: \(error.reason ?? "")", by: subject(of: id))
        if let event = request.refusal(error) { manager.deliver(event, on: apps.loop) }
    }

    /// Whether requests of the app wait until its record is durable.
    package var isWaiting: Bool { gate.isWaiting }

    /// Called when ``isWaiting`` has changed.
    package var onWait: ((Bool) -> Void)? {
        get { gate.onWait }
        set { gate.onWait = newValue }
    }

    /// Answers a query from a manager, whose caller blocks until then.
    package func answer(_ query: Query, from id: ManagerID) -> Result<Reply, ServiceError> {
        if case .system = query {
            var info = apps.info(for: identity)
            info.activityAccess = lifecycle.activityAccess
            return .success(.system(info))
        }
        guard let session = managers[id]?.session else { return .failure(.noManager) }
        if let error = query.listError { return .failure(error) }
        return apps.observers.report(.messages, .asked(query), of: subject(of: id)) { session.answer(query) }
    }

    /// Reports a misuse that the app's side has already reported to the developer (behaviour 1.26).
    package func noteMisuse(_ text: String, at site: CallSite? = nil) {
        let subject = Observation.Subject(app: identity)
        apps.observers.report(.misuse, .misused(text, isToldToApp: true), of: subject, at: site) {}
    }

    package func note(_ note: AppNote, of id: ManagerID, at site: CallSite? = nil) {
        guard managers[id] != nil else { return }
        apps.observers.report(.practices, .practiced(.noted(note)), of: subject(of: id), at: site) {}
    }

    /// Reports a request without its usual effect, which the app's own log has.
    func noteWarning(_ text: String) {
        apps.observers.trouble("\(name): \(text)", .detail)
    }

    /// Reports that the app waits by the clock of this machine, not by the simulated one.
    func noteWait(_ function: String) {
        apps.observers.trouble("\(name) waits in \(function) by the machine's clock; the world's time stands still")
    }

    private func noteLoss(of events: Int, _ id: ManagerID) {
        if events > 0 { apps.observers.report(.managers, .eventsLost(events), of: subject(of: id)) }
    }

    private func subject(of id: ManagerID) -> Observation.Subject {
        Observation.Subject(app: identity, manager: id)
    }

    /// The app's managers, the oldest first.
    var openManagers: [(id: ManagerID, manager: AppManager)] {
        ids.compactMap { id in managers[id].map { (id, $0.manager) } }
    }

    private var ids: [ManagerID] { managers.keys.sorted { $0.rawValue < $1.rawValue } }
}

// MARK: - Requests and the record of the app

extension App {
    /// Whether the app's record has to be durable before the request is performed.
    func changesRecord(_ id: ManagerID, _ request: Request) -> Bool {
        managers[id]?.manager.changesRecord(request) ?? false
    }

    /// Saves the record with the changes of `requests`. Calls `completion` once, when it is durable or cannot be saved.
    func record(_ requests: [(id: ManagerID, request: Request)], completion: @escaping () -> Void) {
        for (id, request) in requests { managers[id]?.manager.plan(request) }
        apps.records.keepRecord(of: identity, completion: completion)
    }

    /// Called when recording is over, right before the requests are performed or dropped.
    func hasRecorded() {
        for (manager, _) in managers.values { manager.endPlan() }
        // In case the requests led to another result than was recorded.
        apps.records.noteChange(of: identity)
    }

    func perform(_ call: AppCall) {
        switch call {
        case .open(let id, let role, let options, let sink): open(id, role, options, sink)
        case .close(let id): close(id)
        case .request(let id, let request, let site): perform(request, from: id, site)
        }
    }

    /// Called when too many calls wait. This one is lost.
    func refuse(_ call: AppCall) {
        let text =
            "dropped a call: more than \(RecordGate.maximumWaiting) calls wait for the record of \(identity.name) to be saved; check the disk"
        apps.observers.misuse(text, by: Observation.Subject(app: identity))
    }
}

// MARK: - Life cycle

extension App {
    private func lifecycleChanged(_ action: AppLifecycle.Action?) {
        switch action {
        case .suspend: for id in ids { managers[id]?.manager.hold() }
        case .resume:
            for id in ids { noteLoss(of: managers[id]?.manager.release(on: apps.loop) ?? 0, id) }
        case .end: if case .notRunning(let end) = lifecycle.phase { processEnded(end) }
        case .startActivityTimer, .endActivityTimer:
            let isPrivileged = apps.configuration.version.has(.liveActivityPrivileges)
            rulesChanged(by: .liveActivity(isShown: lifecycle.hasActivity, isPrivileged: isPrivileged))
        case .startTimer, .endTimer, nil: rulesChanged(by: .appMoved(lifecycle.phase))
        }
    }

    private func rulesChanged(by change: Observation.Content) {
        apps.observers.report(.managers, change, of: Observation.Subject(app: identity))
        for id in ids { managers[id]?.session.rulesChanged() }
        apps.scan.changed()
    }
}

// MARK: - Event sinks

extension App {
    /// Detaches all sinks. The managers live on and queue their events.
    package func detach() {
        for id in ids { managers[id]?.manager.detach() }
    }

    /// Attaches a sink to a manager. It receives the queued events first.
    package func attach(_ sink: any EventSink, to id: ManagerID) {
        noteLoss(of: managers[id]?.manager.attach(sink, on: apps.loop) ?? 0, id)
    }
}

// MARK: - Process

/// The interface for the component that controls the app's process.
extension App {
    package var phase: AppPhase { lifecycle.phase }

    /// Whether the app can start a Live Activity now (behaviour 9.18).
    package var canStartActivity: Bool { lifecycle.canStartActivity }

    /// Whether the app has a Live Activity (behaviour 9.17).
    package var hasActivity: Bool { lifecycle.hasActivity }

    package var process: (any AppProcess)? { lifecycle.process }

    package var declaration: AppDeclaration { lifecycle.declaration }

    package func happened(_ event: AppLifecycle.Event) {
        lifecycle.handle(event)
    }

    /// Brings the app to the foreground because the user opened it.
    ///
    /// - Returns: `false` if its process is gone.
    package func enter() -> Bool {
        guard lifecycle.hasProcess else { return false }
        guard !declaration.kind.isExtension else { return true }
        apps.preservation.personOpens(identity)
        lifecycle.handle(.entered)
        return true
    }

    package func runs(in process: any AppProcess) {
        lifecycle.process = process
    }
}

extension ManagerOptions {
    fileprivate var octets: Int { 64 + (restoreIdentifier?.utf8.count ?? 0) }
}

/// The program that a process of an app runs.
package struct AppProgram: Hashable, Sendable {
    /// The path of the executable as the kernel reports it, or nil if unknown.
    package var executable: String?
    /// Whether the service launched the process, which then receives the app's preserved state, whatever it runs.
    package var isLaunched: Bool

    package init(_ executable: String? = nil, isLaunched: Bool = false) {
        self.executable = executable
        self.isLaunched = isLaunched
    }
}
