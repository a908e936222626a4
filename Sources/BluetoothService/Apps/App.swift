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

/// What an app has of a manager: what it was made with, and the way to it. Lives on the loop.
final class AppManager {
    let options: ManagerOptions
    /// Whose it is, for observers.
    private(set) var subject: Observation.Subject
    /// The life of its app.
    private(set) var life: AppLife
    let role: ManagerRole
    private let observers: Observers
    private(set) var mailbox: EventMailbox
    /// Who takes the events; nil while there is nobody.
    private var sink: (any EventSink)?
    /// Whether events wait since the app does not run.
    private var isHeld = false
    /// Its channels, in either role.
    let channels: AppChannels
    /// The state that the app was told last.
    private(set) var state = ManagerState.unknown
    /// What has to be asked for when the radio comes on, of a manager whose app has come back before that.
    var postponed: [Request] = []
    /// What its next process finds of events that this one has not read.
    var inheritance = Inheritance()
    /// The requests that are performed once the record of the app is durable.
    var coming: [Request] = []
    /// Called when something may be over that would have to be asked for again.
    private let noteChange: () -> Void
    private let mayUseBluetooth: (AppIdentity) -> Bool

    init(
        _ role: ManagerRole,
        _ options: ManagerOptions,
        _ subject: Observation.Subject,
        _ sink: (any EventSink)?,
        _ life: AppLife,
        of system: BluetoothSystem
    ) {
        self.role = role
        self.options = options
        self.subject = subject
        self.sink = sink
        self.life = life
        observers = system.observers
        mailbox = EventMailbox(sink)
        channels = AppChannels(loop: system.loop)
        let app = subject.app
        if let app { channels.shared = { [weak system] in system?.roomForChannels(of: app) ?? 0 } }
        noteChange = { [weak system] in
            if let app { system?.noteChange(of: app) }
        }
        mayUseBluetooth = { [weak system] in system?.permission(of: $0) == .allowedAlways }
        channels.tell = { [weak self, loop = system.loop] in self?.tell(.channel($0, $1), on: loop) }
    }

    /// What persons call its app.
    var appName: String { life.declaration.displayName ?? subject.app?.name ?? "" }

    /// Whether the app may not use Bluetooth: then it is told nothing of peers (behaviour 1.18, AB-G07).
    var isBarred: Bool {
        switch state {
        case .unauthorized: true
        // Without a decision the state is unknown; so it is before there is a radio.
        case .unknown: subject.app.map { !mayUseBluetooth($0) } ?? false
        case .resetting, .unsupported, .poweredOff, .poweredOn: false
        }
    }

    /// Tells the app, or keeps the event for it.
    ///
    /// - Parameter isAwaited: Whether the app is called back with an event that else is no news.
    func tell(_ event: Event, on loop: any EventLoop, isAwaited: Bool = false) {
        if case .stateChanged(let new) = event {
            state = new
            if isBarred { forgetPeers() }
        } else if event.isOfPeer, isBarred {
            return
        }
        observers.tell(.messages, .told(event), of: subject.about(event.peer))
        mailbox.take(event, on: loop)
        life.told(event, role, isAwaited: isAwaited)
        if options.restoreIdentifier != nil, event.endsWishes { noteChange() }
    }

    /// Takes what was postponed: to be asked for now that the radio is on, and void when the app is told of a state in which it would
    /// have ended.
    func takePostponed(in state: ManagerState) -> [Request] {
        guard !outlasts(state) else { return [] }
        defer { postponed = [] }
        return state == .poweredOn ? postponed : []
    }

    /// Whether what the manager has going on is still there when the radio comes back after such a state: before the first one, and
    /// with the power what a peripheral manager publishes and advertises (behaviours 1.9, 1.13, 1.14).
    private func outlasts(_ state: ManagerState) -> Bool {
        state == .unknown || (role == .peripheral && state == .poweredOff)
    }

    /// Its app has come back, and is told how things stood: what it wanted waits for the radio, where that is not on.
    fileprivate func postpone(_ wishes: [Request], in state: ManagerState) {
        if outlasts(state) { postponed = wishes }
    }

    /// The app may not use Bluetooth any more: what waits to be told of peers is void, and channels end.
    private func forgetPeers() {
        mailbox.removeAll(where: \.isOfPeer)
        postponed.removeAll { $0.peer != nil }
        channels.endAll()
    }

    func detach() {
        sink = nil
        mailbox.detach()
    }

    /// It is another process's from now on, or nobody's.
    func move(to life: AppLife, _ subject: Observation.Subject) {
        self.life = life
        self.subject = subject
    }

    /// Begins anew, with nothing that waits.
    func begin(_ sink: any EventSink) {
        self.sink = sink
        isHeld = false
        mailbox = EventMailbox(sink)
    }

    /// Forgets what was to be told, and has nobody to tell.
    func forgetWaiting() {
        sink = nil
        mailbox = EventMailbox(nil)
    }

    fileprivate func attach(_ sink: any EventSink, on loop: any EventLoop) -> Int {
        self.sink = sink
        return isHeld ? 0 : mailbox.attach(sink, on: loop)
    }

    /// The app does not run: what it is told waits.
    fileprivate func hold() {
        isHeld = true
        mailbox.detach()
    }

    /// The app runs again: it is told what waits.
    fileprivate func release(on loop: any EventLoop) -> Int {
        isHeld = false
        return sink.map { mailbox.attach($0, on: loop) } ?? 0
    }
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
        if let identifier = options.restoreIdentifier, let kept = system.preserved[identity]?.take(role, identifier) {
            guard options.isReopened else { return adopt(kept, as: id, sink) }
            // It was told that the service had ended, and asks again for what it wants.
            system.end(kept)
        }
        if let refusal = system.refusalOfManager(of: identity) { return refuse(id, sink, refusal.reason ?? "") }
        let key = ManagerKey(system.nextManagerNumber())
        let manager = AppManager(role, options, subject(of: id), sink, life, of: system)
        let session = system.makeSession(key, of: manager)
        managers[id] = (manager, session)
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
