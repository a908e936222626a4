import BluetoothTypes
import Bonds
import EventLoops
import Foundation

// MARK: - What outlives its process

extension BluetoothSystem {
    /// Apps of which something is kept (AB-G05).
    static let maximumPreserved = RecordSlot.apps
    /// How long after its start a system waits for the process of an app that it has a record of: while that process lives, and no longer than
    /// this, the system launches no second one.
    static let settleTime = Duration.seconds(3)

    /// The managers that are kept of an app, which it has to make when it is launched (behaviour 10.6).
    package func identifiersToRestore(of app: AppIdentity) -> RestoreIdentifiers {
        preserved[app]?.identifiers ?? RestoreIdentifiers()
    }

    /// What an app has said of itself of which something is kept; nil for others.
    package func declaration(ofPreserved app: AppIdentity) -> AppDeclaration? { preserved[app]?.life.declaration }

    /// The process that was launched for what is kept of an app has ended before it connected, or could not be started: all of it stays,
    /// and the next event launches the app again (behaviour 10.15), after a pause (behaviour 10.25).
    package func launchEnded(_ app: AppIdentity) { preserved[app]?.launchEnded() }

    /// The process that was launched for what is kept of an app runs. It is part of the record from now on.
    package func launchStarted(_ app: AppIdentity, as mark: ProcessMark) { preserved[app]?.started(as: mark) }

    /// The user opens an app: how its processes ended before does not count any more (behaviour 10.25).
    package func personOpens(_ app: AppIdentity) { relaunches.forget(app) }

    func makeRelaunches() -> Relaunches {
        let relaunches = Relaunches(loop: loop)
        relaunches.onLaunch = { [weak self] in self?.preserved[$0]?.startProcess() }
        relaunches.onPause = { [weak self] app, earlyEnds, time in
            self?.trouble(
                """
                \(app.name.quotedName) ended early, \(earlyEnds) times in a row: what launches it again waits for \(time); see what it \
                prints, or open it by hand
                """
            )
        }
        return relaunches
    }

    /// A process of an app has connected.
    func processBegan(_ app: App, running program: AppProgram) {
        let kept = preserved(app.identity, for: program)
        if app.phase == .foreground, kept?.isLaunched != true { personOpens(app.identity) }
        kept?.processBegan(app)
    }

    /// A process of an app has ended, and all of it that is kept is kept by now.
    func processEnded(_ app: AppIdentity, _ end: AppEnd, after time: Duration) {
        switch end {
        case .crashed:
            // Of others nothing is launched.
            guard preserved[app] != nil || time >= LaunchBackoff.minimumRun else { return }
            relaunches.handle(.processEnded(after: time), of: app)
        case .forceQuit: relaunches.forget(app)
        case .removedFromMemory, .deviceRestarted: break
        }
    }

    /// What is kept of an app, made if there is nothing.
    func preserved(_ identity: AppIdentity, after life: AppLife) -> PreservedApp {
        if let known = preserved[identity] { return known }
        return preserve(identity, AppLife(preservedFrom: life), settlesUntil: loop.now)
    }

    /// What is kept of an app for a process that runs this program; nil if there is nothing. Another program under the name of the app takes
    /// nothing over: it begins anew, and what was kept is given up (AB-G07).
    func preserved(_ identity: AppIdentity, for program: AppProgram) -> PreservedApp? {
        guard let kept = preserved[identity] else { return nil }
        guard !program.isLaunched, let old = kept.life.executable, let new = program.executable, old != new else {
            return kept
        }
        trouble(
            """
            \(identity.label) was \(old.quotedText), and now is \(new.quotedText): what was kept of it is given up, and it begins \
            anew
            """
        )
        kept.discard()
        return nil
    }

    private func preserve(_ identity: AppIdentity, _ life: AppLife, settlesUntil: Instant) -> PreservedApp {
        let new = PreservedApp(identity, living: life, settlesUntil: settlesUntil, system: self)
        new.onEnd = { [weak self, weak new] in
            if let self, let new, preserved[identity] === new { preserved[identity] = nil }
        }
        if preserved.count >= Self.maximumPreserved { giveUpOldest(besides: identity) }
        preserved[identity] = new
        return new
    }

    /// Makes room for another app: the user of whom most apps are kept, the new one included, loses the one that was in front longest ago. So no
    /// user pushes out what is kept for another one with fewer.
    private func giveUpOldest(besides new: AppIdentity) {
        var counts = [new.owner: 1]
        for app in preserved.keys { counts[app.owner, default: 0] += 1 }
        let most = counts.filter { $0.key != new.owner }.values.max() ?? 0
        let isOwn = counts[new.owner, default: 0] >= max(most, 2)
        let candidates = preserved.values.filter {
            isOwn ? $0.identity.owner == new.owner : counts[$0.identity.owner] == most
        }
        guard let oldest = candidates.min(by: { $0.life.lastInFront < $1.life.lastInFront }) else { return }
        trouble(
            "too many apps are kept that do not run: \(oldest.identity.name) of user \(oldest.identity.owner) is given up"
        )
        oldest.discard()
    }

    /// What is kept of a manager whose process is gone: the session, which goes on.
    ///
    /// - Parameter news: What the process was told and has not read.
    func keep(_ session: any ManagerSession, _ news: UnreadNews) -> PreservedApp.Kept {
        let manager = session.manager
        let postponed = manager.takePostponed(in: .poweredOn)
        let record = ManagerRecord(
            role: manager.role,
            options: manager.options,
            wishes: postponed.isEmpty ? session.wishes : postponed
        )
        let known = { [self] (peer: UUID) in peers.recall(peer)?.info }
        let stood = news.before(session.preserve(), ended: manager.inheritance.ended, info: known)
        return PreservedApp.Kept(
            identifier: manager.options.restoreIdentifier ?? "",
            role: manager.role,
            manager: manager,
            session: session,
            state: postponed.isEmpty ? stood : restored(record),
            radio: manager.state,
            wishes: manager.state == .poweredOn ? nil : record.wishes
        )
    }

    /// What was kept of an app by a system that is gone goes on (behaviour 10.15).
    func preserve(_ record: AppRecord) {
        let life = AppLife(preserving: record, system: self)
        let app = preserve(record.app, life, settlesUntil: loop.now + Self.settleTime)
        for kept in record.managers {
            let key = ManagerKey(nextManagerNumber())
            let subject = Observation.Subject(app: record.app)
            let manager = AppManager(kept.role, kept.options, subject, nil, life, of: self)
            let session = makeSession(key, of: manager)
            app.add(
                PreservedApp.Kept(
                    identifier: kept.options.restoreIdentifier ?? "",
                    role: kept.role,
                    manager: manager,
                    session: session,
                    state: restored(kept),
                    radio: .unknown,
                    wishes: kept.wishes
                )
            )
            add(session, key, of: record.app)
            session.rulesChanged()
        }
        app.radioIsBack()
    }

    private func restored(_ record: ManagerRecord) -> Event {
        record.restored { [self] in peers.recall($0)?.info }
    }

    /// Gives up what is kept of a manager.
    func end(_ kept: PreservedApp.Kept) {
        remove(kept.session)
        kept.session.close()
        kept.manager.channels.closeAll()
    }

    /// Whether managers of an app that opted in go on (behaviours 10.15 to 10.18).
    func keeps(_ declaration: AppDeclaration, after end: AppEnd) -> Bool {
        switch end {
        case .crashed, .removedFromMemory: true
        case .deviceRestarted: configuration.version.preservesAcrossSwitches
        case .forceQuit: declaration.usesAccessorySetup && configuration.version.preservesSetUpAccessories
        }
    }

    /// The person has ended an app that this system may never have had a process of (behaviours 10.16, 10.17).
    package func personHasEnded(_ identity: AppIdentity) {
        relaunches.forget(identity)
        guard let app = preserved[identity], !keeps(app.life.declaration, after: .forceQuit) else { return }
        app.discard()
    }

    /// The person has ended an app, or has switched Bluetooth off: nothing is kept (behaviour 10.16).
    func discardPreserved(of identity: AppIdentity? = nil) {
        for app in preservedApps where identity == nil || app.identity == identity { app.discard() }
    }

    /// What is kept of apps, always in the same order.
    var preservedApps: [PreservedApp] {
        preserved.values.sorted { ($0.identity.name, $0.identity.owner) < ($1.identity.name, $1.identity.owner) }
    }
}

extension AppManager {
    /// The process is gone: what is told waits for the next one, and nobody waits for the answers to what was asked. What this one has not
    /// read goes to the next one, in order and before all else, and launches it as if it came now (behaviours 10.4, 10.7, 10.10).
    ///
    /// - Returns: That, and how many events are lost.
    func preserve(in life: AppLife) -> (news: UnreadNews, lost: Int) {
        channels.closeAll()
        move(to: life, subject)
        let (unread, lost) = inheritance.processEnded(mailbox)
        let news = state == .poweredOn && postponed.isEmpty ? unread : UnreadNews()
        forgetWaiting()
        for event in news.events {
            mailbox.take(event, on: life.loop)
            life.told(event, role)
        }
        return (news, lost)
    }

    /// A manager of a new process takes the place of the one that was: it hears how things stood, the state, and what has happened
    /// since, other states among it (behaviour 10.7).
    ///
    /// - Returns: How many events are lost.
    func adopt(_ kept: PreservedApp.Kept, _ sink: any EventSink, as subject: Observation.Subject, in life: AppLife)
        -> Int
    {
        let (waiting, lost) = (mailbox.waiting, mailbox.lost)
        move(to: life, subject)
        begin(sink)
        guard !isBarred else {
            adoptWithoutPeers(kept)
            return lost
        }
        tell(kept.state, on: life.loop)
        if kept.radio != .unknown { tell(.stateChanged(kept.radio), on: life.loop) }
        for event in waiting {
            // By that the app knows that its services are gone, and publishes them anew (behaviour 1.13).
            if case .stateChanged(let state) = event, state.rawValue < ManagerState.poweredOff.rawValue {
                postponed = []
            }
            tell(event, on: life.loop)
        }
        return lost
    }

    /// The app may not use Bluetooth: it hears what it published and scanned for itself, and nothing of peers (behaviour 1.18, AB-G07).
    private func adoptWithoutPeers(_ kept: PreservedApp.Kept) {
        postponed.removeAll { $0.peer != nil }
        tell(kept.state.withoutPeers, on: life.loop)
        if state != .unknown { tell(.stateChanged(state), on: life.loop) }
    }
}
