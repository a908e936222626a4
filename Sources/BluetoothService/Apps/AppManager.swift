import EventLoops
import Foundation

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
    /// What the process had asked for when the service before this one ended. The process is expected to ask again; until it has had the time
    /// to, this stays in the record and outlives the process (behaviour 10.15).
    private(set) var unclaimed: [Request] = []
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
    func postpone(_ wishes: [Request], in state: ManagerState) {
        if outlasts(state) { postponed = wishes }
    }

    /// Keeps `wishes` while the process, which knows that the service restarted, asks for them again.
    func expect(_ wishes: [Request], on loop: any EventLoop) {
        guard !wishes.isEmpty else { return }
        unclaimed = wishes
        loop.schedule(after: PreservedApp.patience) { [weak self] in
            self?.unclaimed = []
            self?.noteChange()
        }
    }

    /// The process asks for something: what is expected of it follows.
    func note(_ request: Request) {
        if !unclaimed.isEmpty { unclaimed = unclaimed.after(request) }
    }

    /// The process has ended: asks in its place for what it has not asked for again.
    func claim(for session: any ManagerSession) {
        let missing = unclaimed.filter { !session.wishes.contains($0) }
        unclaimed = []
        if session.state == .poweredOn { session.resume(missing) } else { postponed += missing }
    }

    /// The app may not use Bluetooth any more: what waits to be told of peers is void, and channels end.
    private func forgetPeers() {
        mailbox.removeAll(where: \.isOfPeer)
        postponed.removeAll { $0.peer != nil }
        unclaimed.removeAll { $0.peer != nil }
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

    func attach(_ sink: any EventSink, on loop: any EventLoop) -> Int {
        self.sink = sink
        return isHeld ? 0 : mailbox.attach(sink, on: loop)
    }

    /// The app does not run: what it is told waits.
    func hold() {
        isHeld = true
        mailbox.detach()
    }

    /// The app runs again: it is told what waits.
    func release(on loop: any EventLoop) -> Int {
        isHeld = false
        return sink.map { mailbox.attach($0, on: loop) } ?? 0
    }
}
