import EventLoops
import Foundation
import ServiceMessages

/// The options and the event path of one manager, independent of its role. Used on the loop only.
final class AppManager {
    let options: ManagerOptions
    private(set) var subject: Observation.Subject
    /// The life cycle of the app's process, or the preserved app.
    private(set) var lifecycle: any ManagerLifecycle
    let role: ManagerRole
    private let observers: Observers
    private(set) var mailbox: EventMailbox
    /// The receiver of the events, or nil if there is none.
    private var sink: (any EventSink)?
    /// Whether events wait because the app is not running.
    private var isHeld = false
    let channels: AppChannels
    private(set) var state = ManagerState.unknown
    /// Whether the process has been notified that the radio is on. A request that arrives without power later may have
    /// crossed the loss of power, so it is no misuse. The app's side knows the state that the app has read, and reports
    /// misuse of it (behaviour 1.6).
    private(set) var hasBeenPoweredOn = false
    private var intents: IntentKeeper
    /// The requests that wait for the app's record and may change the intent.
    private var planned: [Request] = []
    /// The events that the process has not read, for the next process.
    private var inheritance = Inheritance()
    /// Called when the intent may have changed, if a record contains it.
    private let noteChange: () -> Void
    private let mayUseBluetooth: (AppIdentity) -> Bool
    private let accessories: SetUpAccessories

    /// How long a process has to create the managers that it had before, or to repeat their requests (behaviour 10.6).
    static let reclaimTimeout = Duration.seconds(10)

    /// - Parameters:
    ///   - intent: What a previous system has recorded, or nil for a new manager.
    ///   - mayUseBluetooth: Returns whether an app may use Bluetooth.
    ///   - noteChange: Called when something may have changed that the record of an app contains.
    init(
        _ role: ManagerRole,
        _ options: ManagerOptions,
        _ subject: Observation.Subject,
        _ sink: (any EventSink)?,
        _ lifecycle: any ManagerLifecycle,
        recorded intent: Intent?,
        _ observers: Observers,
        _ managers: ManagerTable,
        _ accessories: SetUpAccessories,
        mayUseBluetooth: @escaping (AppIdentity) -> Bool,
        noteChange: @escaping (AppIdentity) -> Void
    ) {
        self.role = role
        self.options = options
        self.subject = subject
        self.sink = sink
        self.lifecycle = lifecycle
        intents = IntentKeeper(recorded: intent)
        self.observers = observers
        self.accessories = accessories
        self.mayUseBluetooth = mayUseBluetooth
        mailbox = EventMailbox(sink)
        channels = AppChannels(loop: lifecycle.loop)
        let app = subject.app
        if let app { channels.shared = { [weak managers] in managers?.roomForChannels(of: app) ?? 0 } }
        let isRecorded = options.restoreIdentifier != nil
        self.noteChange = {
            if isRecorded, let app { noteChange(app) }
        }
        channels.onEvent = { [weak self, loop = lifecycle.loop] in self?.deliver(.channel($0, $1), on: loop) }
    }

    /// The app's name for the user.
    var appName: String { lifecycle.declaration.displayName ?? subject.app?.name ?? "" }

    /// Whether the app may not use Bluetooth. If so, it receives no events of peers (behaviour 1.18, AB-G07).
    var isBarred: Bool {
        switch state {
        case .unauthorized: true
        // Until the user has decided, the state is unknown. It is also unknown before there is a radio.
        case .unknown: needsPermission && subject.app.map { !mayUseBluetooth($0) } ?? false
        case .resetting, .unsupported, .poweredOff, .poweredOn: false
        }
    }

    /// Whether the manager reaches only the accessories that its app has set up (behaviour 1.23).
    var isLimited: Bool { role == .central && accessories.limits(lifecycle.declaration) }

    /// Whether the app needs the user's permission for the manager (behaviours 1.18, 1.23).
    var needsPermission: Bool { role.isOfBluetooth && !isLimited }

    /// Whether there is something that the manager can reach.
    var hasReach: Bool { !isLimited || subject.app.map { !accessories.accessories(of: $0).isEmpty } ?? false }

    /// Whether the manager may use a peripheral (behaviour 1.23).
    func reaches(_ peer: UUID) -> Bool {
        !isLimited || subject.app.flatMap { accessories.accessory(peer, of: $0) } != nil
    }

    /// Sends an event to the app, or queues it.
    ///
    /// - Parameter isAwaited: Whether the app waits for the event, which then counts as news even if its kind does not.
    func deliver(_ event: Event, on loop: any EventLoop, isAwaited: Bool = false) {
        if case .stateChanged(let new) = event {
            state = new
            if new == .poweredOn { hasBeenPoweredOn = true }
            if isBarred { forgetPeers() }
        } else if event.isOfPeer, isBarred {
            return
        }
        observers.report(event, of: subject)
        mailbox.accept(event, on: loop)
        lifecycle.willDeliver(event, role, isAwaited: isAwaited)
    }

    /// Reports a mistake to the developer of the app (behaviour 1.26).
    func misuse(_ text: String) { observers.misuse(text, by: subject) }

    /// Called when the manager is about to lose a peer. The next process may be restored to the state before that.
    func note(losing peer: RestoredPeer) { inheritance.note(peer) }

    /// Peers as they were when the manager lost them.
    var lostPeers: [UUID: RestoredPeer] { inheritance.ended }

    /// Called when the app may no longer use Bluetooth. Drops queued events of peers and ends the channels.
    private func forgetPeers() {
        mailbox.removeAll(where: \.isOfPeer)
        // Without a process, nothing is over before the app has returned.
        if hasProcess { intents.withdrawConnections() }
        channels.endAll()
    }

    func detach() {
        sink = nil
        mailbox.detach()
    }

    func forgetWaiting() {
        sink = nil
        mailbox = EventMailbox(nil)
    }

    func attach(_ sink: any EventSink, on loop: any EventLoop) -> Int {
        self.sink = sink
        return isHeld ? 0 : mailbox.attach(sink, on: loop)
    }

    /// Queues events while the app is not running.
    func hold() {
        isHeld = true
        mailbox.detach()
    }

    /// Delivers the queued events once the app is running again.
    ///
    /// - Returns: The number of events dropped meanwhile.
    func release(on loop: any EventLoop) -> Int {
        isHeld = false
        return sink.map { mailbox.attach($0, on: loop) } ?? 0
    }
}

// MARK: - Intent

extension AppManager {
    /// The intent as of now. The session carries it out, unless ``awaitsRadio``.
    var intent: Intent { intents.intent }

    /// Whether the session has to carry out the intent when the radio is on.
    var awaitsRadio: Bool { intents.awaitsRadio }

    /// The intent as the app's record contains it, with the requests that are performed once the record is durable.
    var recordedIntent: Intent { intents.kept(after: planned) }

    /// Whether the intent goes into a record, and a request may change it now.
    private var isRecorded: Bool { options.restoreIdentifier != nil && state == .poweredOn }

    /// Whether a request changes the record of the app. The record has to be durable before the request is performed,
    /// so that an app that has observed the effect finds it again.
    func changesRecord(_ request: Request) -> Bool {
        guard isRecorded, request.changesIntents else { return false }
        return intents.kept(after: planned + [request]) != recordedIntent
    }

    /// Counts `request` among those that are performed once the app's record is durable.
    func plan(_ request: Request) {
        if isRecorded, request.changesIntents { planned.append(request) }
    }

    /// Called when the record is durable and the planned requests are about to be performed, or dropped.
    func endPlan() { planned = [] }

    /// Called by the session when a request takes effect, and with the opposite request when it has come to nothing.
    func apply(_ request: Request) {
        intents.apply(request)
        noteChange()
    }

    /// Called by the session when it begins to carry out all of the intent.
    func beginIntent() { intents.begins() }

    /// Called by the session when it has stopped everything because of the radio or the permission.
    func stopIntent() {
        intents.stopped(hasProcess: hasProcess)
        noteChange()
    }

    /// Tells the app a state.
    ///
    /// - Returns: Whether the session has to carry out the intent now.
    func report(_ state: ManagerState, on loop: any EventLoop) -> Bool {
        deliver(.stateChanged(state), on: loop)
        defer { noteChange() }
        return intents.reported(state, role, hasProcess: hasProcess)
    }

    /// Keeps what the process wanted from the previous service for as long as the process, which was notified of the
    /// service's restart, may take to repeat it.
    func expect(_ old: Intent, on loop: any EventLoop) {
        guard old != Intent() else { return }
        intents.expect(old)
        loop.schedule(after: Self.reclaimTimeout) { [weak self] in
            self?.intents.reclaimTimedOut()
            self?.noteChange()
        }
    }

    private var hasProcess: Bool { !lifecycle.isPreserved }
}

// MARK: - Preservation

extension AppManager {
    /// Called when the process is gone. Events are queued for the next process, and pending answers are dropped. Events
    /// that this process has not read go to the next one first, in order, and launch it as if they occurred now
    /// (behaviours 10.4, 10.7, 10.10).
    ///
    /// - Returns: The unread events, and the number of events lost.
    func processEnded(movingTo lifecycle: any ManagerLifecycle) -> (news: UnreadEvents, lost: Int) {
        channels.closeAll()
        self.lifecycle = lifecycle
        let (unread, lost) = inheritance.processEnded(mailbox)
        let news = state == .poweredOn ? unread : UnreadEvents()
        intents.processEnded(in: state)
        forgetWaiting()
        for event in news.events {
            mailbox.accept(event, on: lifecycle.loop)
            lifecycle.willDeliver(event, role, isAwaited: false)
        }
        return (news, lost)
    }

    /// Hands the preserved manager over to one of a new process, which receives the preserved state, the radio state,
    /// and the events since, including later radio states (behaviour 10.7).
    ///
    /// - Parameters:
    ///   - restored: The state to restore.
    ///   - radio: The last radio state reported to the old process.
    /// - Returns: The number of events lost.
    func adopt(
        _ restored: Event,
        radio: ManagerState,
        _ sink: any EventSink,
        as subject: Observation.Subject,
        in lifecycle: any ManagerLifecycle
    ) -> Int {
        let (waiting, lost) = (mailbox.waiting, mailbox.lost)
        (self.lifecycle, self.subject) = (lifecycle, subject)
        intents.processBegan(in: state, role)
        (self.sink, mailbox) = (sink, EventMailbox(sink))
        (isHeld, hasBeenPoweredOn) = (false, false)
        guard !isBarred else {
            adoptWithoutPeers(restored)
            return lost
        }
        deliver(restored, on: lifecycle.loop)
        if radio != .unknown { deliver(.stateChanged(radio), on: lifecycle.loop) }
        for event in waiting {
            // From that state the app concludes that its services are gone, and publishes them again (behaviour 1.13).
            if case .stateChanged(let state) = event, state.rawValue < ManagerState.poweredOff.rawValue {
                intents.drop()
            }
            deliver(event, on: lifecycle.loop)
        }
        return lost
    }

    /// Hands over to an app that may not use Bluetooth. It receives what it published and scanned for, and nothing
    /// about peers (behaviour 1.18, AB-G07).
    private func adoptWithoutPeers(_ restored: Event) {
        intents.withdrawConnections()
        deliver(restored.withoutPeers, on: lifecycle.loop)
        if state != .unknown { deliver(.stateChanged(state), on: lifecycle.loop) }
    }
}
