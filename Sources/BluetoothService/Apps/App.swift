import BluetoothTypes
import EventLoops

/// Says who an app is: on one host the same for ever, whichever process it runs in.
public struct AppIdentity: Hashable, Sendable {
    /// The bundle identifier, or where there is none the name of the executable.
    public var name: String
    /// The number of the user that it runs as. The service finds that out by itself and believes nobody's word for it.
    public var owner: UInt32

    /// An app of this name.
    public init(name: String, owner: UInt32 = 0) {
        self.name = name
        self.owner = owner
    }

    /// How it is named in the log and to the user.
    package var label: String { "\(name.quotedName) of user \(owner)" }
}

/// One manager of an app, as the service sees it.
protocol ManagerSession: AnyObject {
    /// The radio's state is another one.
    func stateChanged(to state: ManagerState)
    /// The state that the app was told last.
    var state: ManagerState { get }
    /// Whose it is, and how it is told.
    var manager: AppManager { get }
    /// The app asks for something.
    func handle(_ request: Request)
    /// The app may do something else with the radio than before (``BackgroundRules``).
    func rulesChanged()
    /// The process of the app is gone, and the manager goes on: forgets what the process waited for, and says how things stand.
    func preserve() -> Event
    /// What has to be asked for once more when the radio comes back, for a manager that its app cannot ask (behaviour 10.15).
    var wishes: [Request] { get }
    /// Asks for it once more.
    func resume(_ wishes: [Request])
    /// What it has of what all managers share.
    var holdings: Holdings { get }
    /// The app wants to know something.
    func answer(_ query: Query) -> Result<Reply, ServiceError>
    /// The manager is gone: ends everything it has going on.
    func close()
}

/// One app with its managers. It lasts as long as the service wants it to; whether there is a process that takes its events is
/// another matter. Lives on the loop.
package final class App {
    package let identity: AppIdentity
    let life: AppLife
    /// When its process connected.
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

    /// The app makes a manager, which it names; its events go to `sink`.
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
            let text = "another process restores \(identifier.quotedName) already; this one restores nothing"
            system.misuse(text, by: subject(of: id))
            options.restoreIdentifier = nil
        }
        var left: [Request] = []
        if let identifier = options.restoreIdentifier, let kept = system.preserved[identity]?.take(role, identifier) {
            guard options.isReopened else { return adopt(kept, as: id, sink) }
            // The process knows that its service ended (behaviour 1.4), and starts over.
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

    /// One manager too many: it stays unsupported.
    private func refuse(_ id: ManagerID, _ sink: any EventSink, _ reason: String) {
        system.misuse("\(reason); this manager stays unsupported", by: subject(of: id))
        sink.take(.stateChanged(.unsupported), on: system.loop)
    }

    /// Whether another process of the app has a manager that restores by this identifier.
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

    /// The process is gone. What opted in goes on (behaviours 10.1, 10.4); the rest ends with it (behaviour 9.14).
    private func processEnded(_ end: AppEnd) {
        system.preserved[identity]?.processEnded(self)
        let isKept = system.keeps(life.declaration, after: end)
        // What the process asked for it wanted.
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

    /// A manager is gone: ends everything that it has going on.
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

    /// What persons call it.
    var name: String { life.declaration.displayName ?? identity.name }

    /// Whether the app, while suspended, has asked for more than may wait, so that requests were dropped. Its connection is to be closed.
    package var hasAskedTooMuch: Bool { life.hasDropped }

    /// A manager asks for something.
    package func handle(_ request: Request, from id: ManagerID) {
        guard life.isRunning else {
            // Counted as on the wire: what waits takes about as much.
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
        system.misuse("a request is refused: \(error.reason ?? "")", by: subject(of: id))
        if let event = request.refusal(error) { manager.tell(event, on: system.loop) }
    }

    /// Whether what the app asks for waits until its record is durable.
    package var isWaiting: Bool { gate.isWaiting }

    /// Called when ``isWaiting`` has changed.
    package var onWait: ((Bool) -> Void)? {
        get { gate.onWait }
        set { gate.onWait = newValue }
    }

    /// A manager asks, and waits.
    package func answer(_ query: Query, from id: ManagerID) -> Result<Reply, ServiceError> {
        if case .system = query { return .success(.system(system.info(for: identity))) }
        guard let session = managers[id]?.session else { return .failure(.noManager) }
        if let error = query.listError { return .failure(error) }
        return system.observers.tell(.messages, .asked(query), of: subject(of: id)) { session.answer(query) }
    }

    /// What the app's side has told its developer of (behaviour 1.26).
    package func noteMisuse(_ text: String) {
        system.observers.tell(.misuse, .misused(text, isToldToApp: true), of: Observation.Subject(app: identity))
    }

    private func subject(of id: ManagerID) -> Observation.Subject {
        Observation.Subject(app: identity, manager: id)
    }

    /// Its managers, the oldest first.
    var openManagers: [(id: ManagerID, manager: AppManager)] {
        ids.compactMap { id in managers[id].map { (id, $0.manager) } }
    }

    private var ids: [ManagerID] { managers.keys.sorted { $0.rawValue < $1.rawValue } }
}

// MARK: - What it asks for, and its record

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
        // Should it come to something else.
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
            "more than \(RecordGate.maximumWaiting) calls wait until the record of \(identity.name) is saved: one is lost; check the disk"
        system.misuse(text, by: Observation.Subject(app: identity))
    }
}

// MARK: - Its life

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

// MARK: - Whoever takes the events

extension App {
    /// Nobody takes events any more; the managers go on, and what they have to tell waits.
    package func detach() {
        for id in ids { managers[id]?.manager.detach() }
    }

    /// Somebody takes the events of a manager, beginning with those that wait.
    package func attach(_ sink: any EventSink, to id: ManagerID) {
        guard let lost = managers[id]?.manager.attach(sink, on: system.loop), lost > 0 else { return }
        system.observers.tell(.managers, .eventsLost(lost), of: subject(of: id))
    }
}

/// Names a manager among those of all apps.
struct ManagerKey: Hashable {
    let number: UInt64

    init(_ number: UInt64) {
        self.number = number
    }
}

extension ServiceError {
    /// A message is from a manager that is not there any more, or never was.
    static let noManager = ServiceError(.operationCancelled, reason: "the manager is closed")
}

extension ManagerOptions {
    /// About as much memory as they take.
    fileprivate var octets: Int { 64 + (restoreIdentifier?.utf8.count ?? 0) }
}
