import BluetoothTypes
import EventLoops

/// Identifies an app. The identity is stable on one host, whichever process the app runs in.
public struct AppIdentity: Hashable, Sendable {
    /// The bundle identifier, or the name of the executable if there is none.
    public var name: String
    /// The user ID that the app runs as. The service determines it and does not trust what the app claims.
    public var owner: UInt32

    /// Creates an identity from a name and a user ID.
    ///
    /// - Parameters:
    ///   - name: The bundle identifier, or the name of the executable if there is none.
    ///   - owner: The user ID that the app runs as. For an app in another process, the service uses that of the
    ///     process.
    public init(name: String, owner: UInt32 = 0) {
        self.name = name
        self.owner = owner
    }

    /// The description for the log and the user.
    package var label: String { "\(name.quotedName) of user \(owner)" }
}

/// The service's side of one manager of an app.
protocol ManagerSession: AnyObject {
    /// Called when the radio state changed.
    func stateChanged(to state: ManagerState)
    /// The last state reported to the app.
    var state: ManagerState { get }
    /// The manager's options, owner and event path.
    var manager: AppManager { get }
    /// Handles a request of the app.
    func handle(_ request: Request)
    /// Called when the ``BackgroundRules`` of the app changed.
    func rulesChanged()
    /// Called when the app's process is gone and the manager lives on. Forgets what the process was waiting for, and
    /// returns the state to restore.
    func preserve() -> Event
    /// The requests to repeat when the radio comes back, for a manager whose app cannot repeat them itself
    /// (behaviour 10.15).
    var wishes: [Request] { get }
    /// Repeats these requests once the radio is on.
    func resume(_ wishes: [Request])
    /// The manager's share of the resources that all managers share.
    var holdings: Holdings { get }
    /// Answers a query of the app.
    func answer(_ query: Query) -> Result<Reply, ServiceError>
    /// Called when the manager is gone. Ends all its activities.
    func close()
}

/// One app with its managers. The service decides how long it lasts, independently of whether a process receives its
/// events. Used on the loop only.
package final class App {
    package let identity: AppIdentity
    let life: AppLife
    /// The time at which its process connected.
    private let beginning: Instant
    let system: BluetoothSystem
    private var managers: [ManagerID: (manager: AppManager, session: any ManagerSession)] = [:]
    private lazy var gate = RecordGate(owner: self)

    init(
        _ identity: AppIdentity,
        _ declaration: AppDeclaration,
        of program: AppProgram,
        inBackground: Bool,
        system: BluetoothSystem
    ) {
        self.identity = identity
        self.system = system
        beginning = system.loop.now
        life = AppLife(declaration, program.executable, inBackground: inBackground, system: system)
        life.onChange = { [weak self] in self?.lifeChanged($0) }
        system.forgetPermission(ofOtherProgramsThan: self)
        system.processBegan(self, running: program)
    }

    /// Opens a manager under the ID that the app chose. Its events go to `sink`.
    package func openManager(_ id: ManagerID, _ role: ManagerRole, _ options: ManagerOptions, _ sink: any EventSink) {
        guard life.isRunning else {
            return life.whenRunning(octets: options.octets) { [self] in openManager(id, role, options, sink) }
        }
        gate.take(.open(id, role, options, sink))
    }

    private func open(_ id: ManagerID, _ role: ManagerRole, _ options: ManagerOptions, _ sink: any EventSink) {
        guard managers.count < ServiceLimits.managers else {
            return refuse(id, sink, "\(identity.name) has \(ServiceLimits.managers) managers already")
        }
        var options = options
        if let identifier = options.restoreIdentifier, isTaken(identifier, role) {
            // Behaviour 10.26.
            let text =
                "another process uses the restore identifier \(identifier.quotedName) already; nothing is restored here"
            system.misuse(text, by: subject(of: id))
            options.restoreIdentifier = nil
        }
        var left: [Request] = []
        if let identifier = options.restoreIdentifier, let kept = system.preserved[identity]?.take(role, identifier) {
            guard options.isReopened else { return adopt(kept, as: id, sink) }
            // The process was notified that its service ended (behaviour 1.4), so it starts over.
            left = kept.wishes ?? kept.session.wishes
            system.end(kept)
        }
        if let refusal = system.refusalOfManager(of: identity) { return refuse(id, sink, refusal.reason ?? "") }
        let key = ManagerKey(system.nextManagerNumber())
        let manager = AppManager(role, options, subject(of: id), sink, life, of: system)
        let session = system.makeSession(key, of: manager)
        managers[id] = (manager, session)
        manager.expect(left, on: system.loop)
        system.observers.tell(.managers, .managerOpened(role), of: subject(of: id))
        system.add(session, key, of: identity)
        // Behaviour 1.16.
        if options.showsPowerAlert, system.state == .poweredOff { system.tell(.poweredOff(app: name)) }
        system.askPermission(for: self)
    }

    /// Refuses a manager, which stays unsupported.
    private func refuse(_ id: ManagerID, _ sink: any EventSink, _ reason: String) {
        system.misuse("\(reason); this manager stays unsupported", by: subject(of: id))
        sink.take(.stateChanged(.unsupported), on: system.loop)
    }

    /// Whether another process of the app has a manager with this restore identifier.
    private func isTaken(_ identifier: String, _ role: ManagerRole) -> Bool {
        system.runningApps.contains { other in
            guard other !== self, other.identity == identity else { return false }
            return other.openManagers.contains { $1.role == role && $1.options.restoreIdentifier == identifier }
        }
    }

    private func adopt(_ kept: PreservedApp.Kept, as id: ManagerID, _ sink: any EventSink) {
        managers[id] = (kept.manager, kept.session)
        system.observers.tell(.managers, .managerOpened(kept.role), of: subject(of: id))
        kept.manager.postpone(kept.wishes ?? [], in: kept.session.state)
        let lost = kept.manager.adopt(kept, sink, as: subject(of: id), in: life)
        if lost > 0 { system.observers.tell(.managers, .eventsLost(lost), of: subject(of: id)) }
        kept.session.rulesChanged()
        system.scansChanged()
    }

    /// Handles the end of the process. Managers that opted in live on (behaviours 10.1, 10.4); the others end with the
    /// process (behaviour 9.14).
    private func processEnded(_ end: AppEnd) {
        system.preserved[identity]?.processEnded(self)
        let isKept = system.keeps(life.declaration, after: end)
        // The process asked for these before it ended, so they still count.
        if isKept { gate.open() } else { gate.clear() }
        let opted = isKept ? ids.filter { managers[$0]?.manager.options.restoreIdentifier != nil } : []
        for id in opted {
            guard let (manager, session) = managers.removeValue(forKey: id) else { continue }
            let app = system.preserved(identity, after: life)
            let (news, lost) = manager.preserve(in: app.life)
            if lost > 0 { system.observers.tell(.managers, .eventsLost(lost), of: subject(of: id)) }
            manager.claim(for: session)
            app.add(system.keep(session, news))
            session.rulesChanged()
        }
        close()
        if !isKept { system.discardPreserved(of: identity) }
        system.processEnded(identity, end, after: system.loop.now - beginning)
        system.scansChanged()
    }

    /// Closes a manager and ends all its activities.
    package func closeManager(_ id: ManagerID) { gate.take(.close(id)) }

    private func close(_ id: ManagerID) {
        guard let (manager, session) = managers.removeValue(forKey: id) else { return }
        system.remove(session)
        system.observers.tell(.managers, .managerClosed, of: subject(of: id)) {
            session.close()
            manager.channels.closeAll()
        }
    }

    func close() {
        gate.clear()
        for id in ids { close(id) }
    }

    /// The name for the user.
    var name: String { life.declaration.displayName ?? identity.name }

    /// Whether requests were dropped because the app, while suspended, made more of them than may wait. Its connection
    /// is to be closed.
    package var hasAskedTooMuch: Bool { life.hasDropped }

    /// Handles a request from a manager.
    package func handle(_ request: Request, from id: ManagerID) {
        guard life.isRunning else {
            // Counted by its encoded size, which is about the memory that it occupies while it waits.
            return life.whenRunning(octets: request.encoded().count) { [self] in handle(request, from: id) }
        }
        gate.take(.request(id, request))
    }

    private func perform(_ request: Request, from id: ManagerID) {
        guard let (manager, session) = managers[id] else { return }
        if let error = request.listError { return refuse(request, error, for: manager, id) }
        manager.note(request)
        system.observers.tell(.messages, .requested(request), of: subject(of: id).about(request.peer)) {
            if case .channel(let channel, let request) = request {
                manager.channels.handle(request, of: channel)
            } else {
                session.handle(request)
            }
        }
    }

    private func refuse(_ request: Request, _ error: ServiceError, for manager: AppManager, _ id: ManagerID) {
        system.misuse("refused a request: \(error.reason ?? "")", by: subject(of: id))
        if let event = request.refusal(error) { manager.tell(event, on: system.loop) }
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
        if case .system = query { return .success(.system(system.info(for: identity))) }
        guard let session = managers[id]?.session else { return .failure(.noManager) }
        if let error = query.listError { return .failure(error) }
        return system.observers.tell(.messages, .asked(query), of: subject(of: id)) { session.answer(query) }
    }

    /// Reports a misuse that the app's side has already reported to the developer (behaviour 1.26).
    package func noteMisuse(_ text: String) {
        system.observers.tell(.misuse, .misused(text, isToldToApp: true), of: Observation.Subject(app: identity))
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

extension App: RecordGateOwner {
    func changesRecord(_ id: ManagerID, _ request: Request) -> Bool {
        managers[id].map { system.changesRecord(request, $0.session, of: identity) } ?? false
    }

    func record(_ requests: [(id: ManagerID, request: Request)], completion: @escaping () -> Void) {
        for (id, request) in requests {
            guard let (manager, session) = managers[id], session.keeps(request) else { continue }
            manager.coming.append(request)
        }
        system.keepRecord(of: identity, completion: completion)
    }

    func hasRecorded() {
        for (manager, _) in managers.values { manager.coming = [] }
        // In case the requests led to another result than was recorded.
        system.noteChange(of: identity)
    }

    func perform(_ call: AppCall) {
        switch call {
        case .open(let id, let role, let options, let sink): open(id, role, options, sink)
        case .close(let id): close(id)
        case .request(let id, let request): perform(request, from: id)
        }
    }

    func refuse(_ call: AppCall) {
        let text =
            "dropped a call: more than \(RecordGate.maximumWaiting) calls wait for the record of \(identity.name) to be saved; check the disk"
        system.misuse(text, by: Observation.Subject(app: identity))
    }
}

// MARK: - Life cycle

extension App {
    private func lifeChanged(_ action: AppLifecycle.Action?) {
        switch action {
        case .suspend: for id in ids { managers[id]?.manager.hold() }
        case .resume:
            for id in ids {
                guard let lost = managers[id]?.manager.release(on: system.loop), lost > 0 else { continue }
                system.observers.tell(.managers, .eventsLost(lost), of: subject(of: id))
            }
        case .end: if case .notRunning(let end) = life.phase { processEnded(end) }
        case .startTimer, .endTimer, nil:
            system.observers.tell(.managers, .appMoved(life.phase), of: Observation.Subject(app: identity))
            for id in ids { managers[id]?.session.rulesChanged() }
            system.scansChanged()
        }
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
        guard let lost = managers[id]?.manager.attach(sink, on: system.loop), lost > 0 else { return }
        system.observers.tell(.managers, .eventsLost(lost), of: subject(of: id))
    }
}

/// Identifies a manager among those of all apps.
struct ManagerKey: Hashable {
    let number: UInt64

    init(_ number: UInt64) {
        self.number = number
    }
}

extension ServiceError {
    /// The message refers to a manager that no longer exists or never did.
    static let noManager = ServiceError(.operationCancelled, reason: "the manager is closed")
}

extension ManagerOptions {
    /// The approximate memory that the options occupy.
    fileprivate var octets: Int { 64 + (restoreIdentifier?.utf8.count ?? 0) }
}
