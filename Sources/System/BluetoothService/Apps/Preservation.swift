import BluetoothTypes
import EventLoops
import Foundation
import Security
import ServiceMessages

/// The state of apps whose process is gone, and their launches (behaviours 10.1 to 10.8, 10.15 to 10.18). Used on the
/// loop only.
package final class Preservation {
    /// The number of apps whose state is preserved (AB-G05).
    static let maximumApps = RecordSlot.apps
    /// How long after its start a system waits for the process of a recorded app to reconnect. While that process runs,
    /// and no longer than this, the system does not launch the app.
    static let settleTime = Duration.seconds(3)

    /// Launches apps to receive events (behaviour 10.4). Not retained.
    package weak var launcher: (any AppLauncher)?
    /// Whether the device was started and not unlocked yet. Until then no preserved app is launched (behaviour 10.24).
    package var isLocked = false {
        didSet { if !isLocked { for app in ordered { app.deviceWasUnlocked() } } }
    }
    private(set) var apps: [AppIdentity: PreservedApp] = [:]
    let relaunches: Relaunches
    private unowned let owner: Apps

    init(_ owner: Apps) {
        self.owner = owner
        relaunches = Relaunches(loop: owner.loop)
        relaunches.onLaunch = { [weak self] in self?.apps[$0]?.startProcess() }
        relaunches.onPause = { [weak observers = owner.observers] app, earlyEnds, time in
            observers?.trouble(
                """
                \(app.name.quotedName) ended early \(earlyEnds) times in a row: its next launch is delayed by \(time); check its \
                output, or open it by hand
                """
            )
        }
    }

    /// Cancels all pending launches, for good.
    func stop() { relaunches.stop() }

    /// The preserved apps, in a stable order.
    var ordered: [PreservedApp] {
        apps.values.sorted { ($0.identity.name, $0.identity.owner) < ($1.identity.name, $1.identity.owner) }
    }
}

// MARK: - Processes

extension Preservation {
    /// Returns the identifiers of an app's preserved managers, which it has to create when launched (behaviour 10.6).
    package func identifiersToRestore(of app: AppIdentity) -> RestoreIdentifiers {
        apps[app]?.identifiers ?? RestoreIdentifiers()
    }

    /// Returns the declaration of a preserved app, or nil if the app is not preserved.
    package func declaration(of app: AppIdentity) -> AppDeclaration? { apps[app]?.lifecycle.declaration }

    /// Called when a launched process could not be started, or ended before it connected. The preserved state is kept.
    /// The next event launches the app again (behaviour 10.15), after a pause (behaviour 10.25).
    package func launchEnded(_ app: AppIdentity) { apps[app]?.launchEnded() }

    /// Called when the process of a launched app runs. The process is part of the record from now on.
    package func launchStarted(_ app: AppIdentity, as mark: ProcessMark) { apps[app]?.started(as: mark) }

    /// Called when the user opens an app. Clears the count of early ends (behaviour 10.25).
    package func personOpens(_ app: AppIdentity) { relaunches.forget(app) }

    func processBegan(_ app: App, running program: AppProgram) {
        let kept = self.app(app.identity, for: program)
        if app.phase == .foreground, kept?.isLaunched != true { personOpens(app.identity) }
        kept?.processBegan(app)
    }

    /// Called when a process of an app has ended, after its managers were preserved.
    func processEnded(_ app: AppIdentity, _ end: AppEnd, after time: Duration) {
        apps[app]?.reviewInstallation()
        switch end {
        case .crashed:
            // Other apps are not launched, so only their long runs matter.
            guard apps[app] != nil || time >= LaunchBackoff.minimumRun else { return }
            relaunches.handle(.processEnded(after: time), of: app)
        case .forceQuit: relaunches.forget(app)
        case .removedFromMemory, .deviceRestarted: break
        }
    }

    /// Returns the preserved state of an app, and creates it if there is none.
    func app(_ identity: AppIdentity, after lifecycle: ProcessLifecycle) -> PreservedApp {
        if let known = apps[identity] { return known }
        return add(identity, PreservedLifecycle(after: lifecycle), settlesUntil: owner.loop.now)
    }

    /// Returns the preserved state of an app for a process that runs `program`, or nil if there is none. Another
    /// program under the app's name takes nothing over: the preserved state is discarded (AB-G07).
    func app(_ identity: AppIdentity, for program: AppProgram) -> PreservedApp? {
        guard let kept = apps[identity] else { return nil }
        guard !program.isLaunched, let old = kept.lifecycle.executable, let new = program.executable, old != new else {
            return kept
        }
        owner.observers.trouble(
            """
            the program of \(identity.label) changed from \(old.quotedText) to \(new.quotedText): its preserved state is \
            discarded
            """
        )
        kept.discard()
        return nil
    }

    private func add(_ identity: AppIdentity, _ lifecycle: PreservedLifecycle, settlesUntil: Instant) -> PreservedApp {
        let new = PreservedApp(identity, living: lifecycle, settlesUntil: settlesUntil, apps: owner)
        new.onEnd = { [weak self, weak new] in
            if let self, let new, apps[identity] === new { apps[identity] = nil }
        }
        if apps.count >= Self.maximumApps { giveUpOldest(besides: identity) }
        apps[identity] = new
        return new
    }

    /// Evicts a preserved app to make room for `new`. Of the user with the most preserved apps, counting the new one,
    /// the app that was in the foreground longest ago is discarded. A user with many apps therefore never evicts those
    /// of a user with fewer.
    private func giveUpOldest(besides new: AppIdentity) {
        var counts = [new.owner: 1]
        for app in apps.keys { counts[app.owner, default: 0] += 1 }
        let most = counts.filter { $0.key != new.owner }.values.max() ?? 0
        let isOwn = counts[new.owner, default: 0] >= max(most, 2)
        let candidates = apps.values.filter {
            isOwn ? $0.identity.owner == new.owner : counts[$0.identity.owner] == most
        }
        guard let oldest = candidates.min(by: { $0.lifecycle.lastInFront < $1.lifecycle.lastInFront }) else { return }
        owner.observers.trouble(
            "too many apps are preserved: the state of \(oldest.identity.name) of user \(oldest.identity.owner) is discarded"
        )
        oldest.discard()
    }

    /// Returns the preserved form of a manager whose process is gone. Its session lives on.
    ///
    /// - Parameter news: The events that the process was sent and has not read.
    func keep(_ session: any ManagerSession, _ news: UnreadEvents) -> PreservedApp.Kept {
        let manager = session.manager
        let known = { [self] (peer: UUID) in owner.peers.recall(peer)?.info }
        return PreservedApp.Kept(
            session: session,
            state: news.before(session.stateToRestore(), ended: manager.lostPeers, info: known),
            radio: manager.state
        )
    }

    /// Restores the preserved state of an app from the record of a previous system (behaviour 10.15).
    func restore(_ record: AppRecord) {
        let lifecycle = PreservedLifecycle(record, lastInFront: owner.nextInFront(), loop: owner.loop)
        let app = add(record.app, lifecycle, settlesUntil: owner.loop.now + Self.settleTime)
        owner.permissions.begin(record.app, record.declaration.kind)
        for kept in record.managers {
            let subject = Observation.Subject(app: record.app)
            let (key, _, session) = owner.makeManager(
                kept.role,
                kept.options,
                subject,
                nil,
                lifecycle,
                recorded: kept.intent
            )
            app.add(PreservedApp.Kept(session: session, state: session.stateToRestore(), radio: .unknown))
            owner.add(session, key, of: record.app)
            session.rulesChanged()
        }
        app.radioReturned()
        app.reviewInstallation()
    }

    func end(_ kept: PreservedApp.Kept) {
        owner.remove(kept.session)
        kept.session.close()
        kept.manager.channels.closeAll()
    }

    /// Whether managers of an app that opted in outlive this event (behaviours 10.15 to 10.18, 10.23, 10.28): the table
    /// of TN3115.
    func keeps(_ declaration: AppDeclaration, after event: RelaunchEvent) -> Bool {
        let (version, isSetUp) = (owner.configuration.version, declaration.usesAccessorySetup)
        let isKept = isSetUp || !(owner.configuration.restoresOnlySetUpApps && version.has(.restorationAfterForceQuit))
        return switch event {
        case .processEnded(.crashed), .processEnded(.removedFromMemory): true
        case .processEnded(.forceQuit): isSetUp && version.has(.restorationAfterForceQuit)
        case .processEnded(.deviceRestarted): version.has(.restorationAfterRestart)
        case .switchedOff(.settings): false
        case .switchedOff(.controlCentre): version.has(.restorationAfterControlCentre) && isKept
        case .airplaneMode: isKept
        }
    }

    /// Whether a manager opted in to outlive its process (behaviours 10.1, 10.29, 10.30).
    func keeps(_ manager: AppManager) -> Bool {
        guard manager.options.restoreIdentifier != nil else { return false }
        let version = owner.configuration.version
        if manager.role == .peripheral, version.has(.forgottenPeripheralApps) { return false }
        if case .appExtension = manager.lifecycle.declaration.kind {
            return version.has(.transportExtensionRestoration)
        }
        return true
    }

    /// Called when the user has force-quit an app, even one without a process here (behaviours 10.16, 10.17).
    package func userForceQuit(_ identity: AppIdentity) {
        relaunches.forget(identity)
        guard let app = apps[identity], !keeps(app.lifecycle.declaration, after: .processEnded(.forceQuit)) else {
            return
        }
        app.discard()
    }

    /// Discards the preserved state of an app.
    func discard(of identity: AppIdentity) { apps[identity]?.discard() }

    /// Discards the preserved state of the apps that do not come back after the event.
    func discard(after event: RelaunchEvent) {
        for app in ordered where !keeps(app.lifecycle.declaration, after: event) { app.discard() }
    }
}

/// An event that decides whether an app is launched again: a row of TN3115 (behaviours 10.15 to 10.18, 10.28).
enum RelaunchEvent: Hashable {
    case processEnded(AppEnd)
    case switchedOff(PowerSwitch)
    /// Airplane mode was switched on or off, and left Bluetooth alone.
    case airplaneMode
}
