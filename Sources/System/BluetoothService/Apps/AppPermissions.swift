import BluetoothTypes
import EventLoops
import ServiceMessages

/// Asks the user whether an app may use Bluetooth. Used on the loop only.
package protocol PermissionPrompter: AnyObject {
    /// Shows the question. `answer` has to be called once, on the loop.
    func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void)
}

/// Which apps may use Bluetooth (behaviour 1.18). Used on the loop only.
package final class AppPermissions {
    /// The number of apps with a decision other than ``SystemConfiguration/permission`` (AB-G05).
    static let maximumDecisions = PermissionRecord.maximumApps

    /// Asks the user. Without a prompter the question stays open. Not retained.
    package weak var prompter: (any PermissionPrompter)?
    /// The permissions decided in advance. If it returns nil, the configuration applies.
    package var rule: ((AppIdentity) -> AppPermission?)? {
        didSet { apps.reportStates() }
    }
    /// Decisions about apps that override the rule and the configuration.
    package private(set) var decisions: [AppIdentity: AppDecision] = [:]
    private var asking: Set<AppIdentity> = []
    /// The apps of the extensions, whose permission the extensions have (behaviour 9.20).
    private var containers: [AppIdentity: AppIdentity] = [:]
    private unowned let apps: Apps

    init(_ apps: Apps) {
        self.apps = apps
    }

    func permission(of app: AppIdentity) -> AppPermission {
        let app = containers[app] ?? app
        let configuration = apps.configuration
        let permission = decisions[app]?.permission ?? rule?(app) ?? configuration.permission
        return permission == .notDetermined && !configuration.version.has(.permission) ? .allowedAlways : permission
    }

    /// Called when a process of an app begins, or when its preserved state is restored.
    func begin(_ app: AppIdentity, _ kind: ProcessKind) {
        guard kind.isExtension, let end = app.name.lastIndex(of: ".") else { return containers[app] = nil }
        guard containers.count < Self.maximumDecisions else { return }
        containers[app] = AppIdentity(name: String(app.name[..<end]), owner: app.owner)
    }

    /// Adopts the decisions that a previous system had saved, and saves those that apply now.
    func adopt(_ record: PermissionRecord) {
        decisions = record.decisions(ownedBy: apps.configuration.user).merging(decisions) { $1 }
    }

    // MARK: Decisions

    /// Sets whether an app may use Bluetooth, and notifies its managers.
    ///
    /// - Parameter executable: The path of the program that the decision applies to. Nil for every program of the app.
    package func set(_ permission: AppPermission, for app: AppIdentity, executable: String? = nil) {
        if decisions[app] == nil, decisions.count >= Self.maximumDecisions { forgetOne() }
        decisions[app] = AppDecision(permission, executable: executable)
        changed()
    }

    /// Forgets the decision about an app. The user is asked again.
    package func reset(_ app: AppIdentity) {
        decisions[app] = nil
        changed()
    }

    private func changed() {
        apps.records.keep(PermissionRecord(decisions))
        apps.reportStates()
    }

    /// Evicts the decision about an app that is neither running nor preserved: the first by name of the user with most.
    private func forgetOne() {
        let here = Set(apps.running.map(\.identity)).union(apps.preservation.apps.keys)
        let absent = decisions.keys.filter { !here.contains($0) }
        let counts = Dictionary(grouping: absent, by: \.owner).mapValues(\.count)
        guard let owner = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return }
        guard let first = absent.filter({ $0.owner == owner }).min(by: { $0.name < $1.name }) else { return }
        decisions[first] = nil
        apps.observers.trouble(
            "there are \(Self.maximumDecisions) decisions about apps already: the one about \(first.label) is discarded"
        )
    }

    /// Called when the user changes the permission of an app in the settings. A running managed app is ended by that.
    /// Its preserved state stays (behaviour 1.27).
    package func change(to new: AppPermission, for app: AppIdentity) {
        for running in apps.running where running.identity == app && running.declaration.isManaged {
            if permission(of: running.identity) != new { running.happened(.ended(.removedFromMemory)) }
        }
        set(new, for: app)
    }

    /// Withdraws a permission that was given to another program under the app's name, and asks again (AB-G07).
    func forget(ofOtherProgramsThan app: App) {
        guard let decision = decisions[app.identity], decision.permission == .allowedAlways,
            let allowed = decision.executable, let executable = app.lifecycle.executable, allowed != executable
        else { return }
        apps.observers.trouble(
            """
            \(app.identity.label) was allowed to use Bluetooth as \(allowed.quotedText), and its program now is \(executable.quotedText): \
            the permission is withdrawn
            """
        )
        reset(app.identity)
    }

    // MARK: Questions

    /// Asks the user, once for each app, before the app uses Bluetooth for the first time (behaviour 1.18).
    func ask(for app: App) {
        let (identity, executable) = (app.identity, app.lifecycle.executable)
        guard permission(of: identity) == .notDetermined, !asking.contains(identity) else { return }
        // Behaviour 1.23.
        guard app.openManagers.contains(where: \.manager.needsPermission) else { return }
        let declaration = app.lifecycle.declaration
        // An extension shows no prompt (behaviour 9.20).
        guard !declaration.kind.isExtension else { return }
        let needsDescription = declaration.isManaged && apps.configuration.version.has(.usageDescription)
        guard !needsDescription || declaration.usageDescription != nil else { return endUndeclared(app) }
        // A question for which there is no room is not refused. It is asked once there is room.
        guard let prompter, hasRoomToAsk(about: identity) else { return }
        asking.insert(identity)
        prompter.askPermission(AppQuestion(app)) { [weak self] isAllowed in
            guard let self, asking.remove(identity) != nil else { return }
            set(isAllowed ? .allowedAlways : .denied, for: identity, executable: executable)
            apps.loop.execute { [weak self] in self?.askWaiting() }
        }
    }

    private func hasRoomToAsk(about app: AppIdentity) -> Bool {
        ServiceLimits.permissionQuestions.room(for: app, beside: asking.map { (app: $0, count: 1) }).count > 0
    }

    private func askWaiting() {
        for app in apps.running where !app.openManagers.isEmpty { ask(for: app) }
    }

    /// Ends an app without a usage description, which crashes in place of the question (behaviour 1.19).
    private func endUndeclared(_ app: App) {
        apps.observers.misuse(
            "the app crashed because its Info.plist lacks NSBluetoothAlwaysUsageDescription, which the prompt requires",
            by: Observation.Subject(app: app.identity)
        )
        app.lifecycle.handle(.ended(.crashed))
    }
}

extension AppQuestion {
    fileprivate init(_ app: App) {
        let declaration = app.lifecycle.declaration
        self.init(
            app.identity,
            displayName: declaration.displayName,
            usage: declaration.usageDescription,
            executable: app.lifecycle.executable
        )
    }
}
