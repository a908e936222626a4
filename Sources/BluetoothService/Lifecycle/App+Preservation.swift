import BluetoothTypes
import Bonds
import EventLoops
import Foundation

// MARK: - Preserved apps

extension BluetoothSystem {
    /// The number of apps whose state is preserved (AB-G05).
    static let maximumPreserved = RecordSlot.apps
    /// How long after its start a system waits for the process of a recorded app to reconnect. While that process runs,
    /// and no longer than this, the system does not launch the app.
    static let settleTime = Duration.seconds(3)

    /// Returns the identifiers of an app's preserved managers, which it has to create when it is launched
    /// (behaviour 10.6).
    package func identifiersToRestore(of app: AppIdentity) -> RestoreIdentifiers {
        preserved[app]?.identifiers ?? RestoreIdentifiers()
    }

    /// Returns the declaration of a preserved app, or nil if the app is not preserved.
    package func declaration(ofPreserved app: AppIdentity) -> AppDeclaration? { preserved[app]?.life.declaration }

    /// Called when a launched process could not be started, or ended before it connected. The preserved state is kept.
    /// The next event launches the app again (behaviour 10.15), after a pause (behaviour 10.25).
    package func launchEnded(_ app: AppIdentity) { preserved[app]?.launchEnded() }

    /// Called when the process of a launched app runs. The process is part of the record from now on.
    package func launchStarted(_ app: AppIdentity, as mark: ProcessMark) { preserved[app]?.started(as: mark) }

    /// Called when the user opens an app. Clears the count of early ends (behaviour 10.25).
    package func personOpens(_ app: AppIdentity) { relaunches.forget(app) }

    func makeRelaunches() -> Relaunches {
        let relaunches = Relaunches(loop: loop)
        relaunches.onLaunch = { [weak self] in self?.preserved[$0]?.startProcess() }
        relaunches.onPause = { [weak self] app, earlyEnds, time in
            self?.trouble(
                """
                \(app.name.quotedName) ended early \(earlyEnds) times in a row: its next launch is delayed by \(time); check its \
                output, or open it by hand
                """
            )
        }
        return relaunches
    }

    /// Called when a process of an app has connected.
    func processBegan(_ app: App, running program: AppProgram) {
        let kept = preserved(app.identity, for: program)
        if app.phase == .foreground, kept?.isLaunched != true { personOpens(app.identity) }
        kept?.processBegan(app)
    }

    /// Called when a process of an app has ended, after its managers were preserved.
    func processEnded(_ app: AppIdentity, _ end: AppEnd, after time: Duration) {
        switch end {
        case .crashed:
            // Other apps are not launched, so only their long runs matter.
            guard preserved[app] != nil || time >= LaunchBackoff.minimumRun else { return }
            relaunches.handle(.processEnded(after: time), of: app)
        case .forceQuit: relaunches.forget(app)
        case .removedFromMemory, .deviceRestarted: break
        }
    }

    /// Returns the preserved state of an app, and creates it if there is none.
    func preserved(_ identity: AppIdentity, after life: AppLife) -> PreservedApp {
        if let known = preserved[identity] { return known }
        return preserve(identity, AppLife(preservedFrom: life), settlesUntil: loop.now)
    }

    /// Returns the preserved state of an app for a process that runs `program`, or nil if there is none. Another
    /// program under the app's name takes nothing over: the preserved state is discarded (AB-G07).
    func preserved(_ identity: AppIdentity, for program: AppProgram) -> PreservedApp? {
        guard let kept = preserved[identity] else { return nil }
        guard !program.isLaunched, let old = kept.life.executable, let new = program.executable, old != new else {
            return kept
        }
        trouble(
            """
            the program of \(identity.label) changed from \(old.quotedText) to \(new.quotedText): its preserved state is \
            discarded
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

    /// Evicts a preserved app to make room for `new`. Of the user with the most preserved apps, counting the new one,
    /// the app that was in the foreground longest ago is discarded. A user with many apps therefore never evicts those
    /// of a user with fewer.
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
            "too many apps are preserved: the state of \(oldest.identity.name) of user \(oldest.identity.owner) is discarded"
        )
        oldest.discard()
    }

    /// Returns the preserved form of a manager whose process is gone. Its session lives on.
    ///
    /// - Parameter news: The events that the process was sent and has not read.
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

    /// Restores the preserved state of an app from the record of a previous system (behaviour 10.15).
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

    /// Ends a preserved manager.
    func end(_ kept: PreservedApp.Kept) {
        remove(kept.session)
        kept.session.close()
        kept.manager.channels.closeAll()
    }

    /// Whether managers of an app that opted in outlive its process (behaviours 10.15 to 10.18).
    func keeps(_ declaration: AppDeclaration, after end: AppEnd) -> Bool {
        switch end {
        case .crashed, .removedFromMemory: true
        case .deviceRestarted: configuration.version.preservesAcrossSwitches
        case .forceQuit: declaration.usesAccessorySetup && configuration.version.preservesSetUpAccessories
        }
    }

    /// Called when the user has force-quit an app, even one that had no process under this system (behaviours 10.16,
    /// 10.17).
    package func personHasEnded(_ identity: AppIdentity) {
        relaunches.forget(identity)
        guard let app = preserved[identity], !keeps(app.life.declaration, after: .forceQuit) else { return }
        app.discard()
    }

    /// Discards the preserved state of one app or of all, because the user force-quit the app or switched Bluetooth off
    /// (behaviour 10.16).
    func discardPreserved(of identity: AppIdentity? = nil) {
        for app in preservedApps where identity == nil || app.identity == identity { app.discard() }
    }

    /// The preserved apps, in a stable order.
    var preservedApps: [PreservedApp] {
        preserved.values.sorted { ($0.identity.name, $0.identity.owner) < ($1.identity.name, $1.identity.owner) }
    }
}

extension AppManager {
    /// Called when the process is gone. Events are queued for the next process, and pending answers are dropped. Events
    /// that this process has not read go to the next one first, in order, and launch it as if they occurred now
    /// (behaviours 10.4, 10.7, 10.10).
    ///
    /// - Returns: The unread events, and the number of events lost.
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

    /// Hands the preserved manager over to one of a new process, which receives the preserved state, the radio state,
    /// and the events since, including later radio states (behaviour 10.7).
    ///
    /// - Returns: The number of events lost.
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
            // From that state the app concludes that its services are gone, and publishes them again (behaviour 1.13).
            if case .stateChanged(let state) = event, state.rawValue < ManagerState.poweredOff.rawValue {
                postponed = []
            }
            tell(event, on: life.loop)
        }
        return lost
    }

    /// Hands over to an app that may not use Bluetooth. It receives what it published and scanned for, and nothing
    /// about peers (behaviour 1.18, AB-G07).
    private func adoptWithoutPeers(_ kept: PreservedApp.Kept) {
        postponed.removeAll { $0.peer != nil }
        tell(kept.state.withoutPeers, on: life.loop)
        if state != .unknown { tell(.stateChanged(state), on: life.loop) }
    }
}
