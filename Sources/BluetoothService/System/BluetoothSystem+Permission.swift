import BluetoothTypes
import EventLoops
import GAP
import HCIHost

/// Asks the person whether an app may use Bluetooth. On the loop.
package protocol PermissionPrompter: AnyObject {
    /// Shows the question. `answer` is to be called once, from the loop.
    func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void)
}

// MARK: - Permission

extension BluetoothSystem {
    /// Apps of which something else than ``SystemConfiguration/permission`` may be said (AB-G05).
    static let maximumPermissions = PermissionRecord.maximumApps

    /// Decides whether an app may use Bluetooth. Its managers learn of it (behaviour 1.18).
    ///
    /// - Parameter executable: The program that the decision is about; nil for every program of the app.
    package func setPermission(_ permission: AppPermission, for app: AppIdentity, executable: String? = nil) {
        if permissions[app] == nil, permissions.count >= Self.maximumPermissions { forgetDecision() }
        permissions[app] = AppDecision(permission, executable: executable)
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Makes room for a decision: the user with the most decisions loses the first one, by name, about an app that neither runs nor is kept.
    private func forgetDecision() {
        let here = Set(runningApps.map(\.identity)).union(preserved.keys)
        let absent = permissions.keys.filter { !here.contains($0) }
        let counts = Dictionary(grouping: absent, by: \.owner).mapValues(\.count)
        guard let owner = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return }
        guard let first = absent.filter({ $0.owner == owner }).min(by: { $0.name < $1.name }) else { return }
        permissions[first] = nil
        trouble("there are \(Self.maximumPermissions) decisions about apps: the one about \(first.label) is forgotten")
    }

    /// The person changes in the settings what an app may do: a managed app that runs is ended with that, and what it has preserved stays
    /// (behaviour 1.27).
    package func changePermission(_ new: AppPermission, for app: AppIdentity) {
        for running in runningApps where running.identity == app && running.declaration.isManaged {
            if permission(of: running.identity) != new { running.happened(.ended(.removedFromMemory)) }
        }
        setPermission(new, for: app)
    }

    /// Asks the person, once for each app, before it uses Bluetooth for the first time (behaviour 1.18).
    func askPermission(for app: App) {
        let (identity, executable) = (app.identity, app.life.executable)
        guard permission(of: identity) == .notDetermined, !asking.contains(identity) else { return }
        let declaration = app.life.declaration
        guard !declaration.isManaged || declaration.usageDescription != nil else { return endUndeclared(app) }
        // Not asking is no answer: the app is asked about when there is room.
        guard let permissionPrompter, hasRoomToAsk(about: identity) else { return }
        asking.insert(identity)
        permissionPrompter.askPermission(AppQuestion(app)) { [weak self] isAllowed in
            guard let self, asking.remove(identity) != nil else { return }
            setPermission(isAllowed ? .allowedAlways : .denied, for: identity, executable: executable)
            loop.execute { [weak self] in self?.askWaiting() }
        }
    }

    private func hasRoomToAsk(about app: AppIdentity) -> Bool {
        ServiceLimits.permissionQuestions.room(for: app, beside: asking.map { (app: $0, count: 1) }).count > 0
    }

    /// Asks about apps for which there was no room before.
    private func askWaiting() {
        for app in runningApps where !app.openManagers.isEmpty { askPermission(for: app) }
    }

    /// An app that does not say what Bluetooth is for does not survive the question (behaviour 1.19).
    private func endUndeclared(_ app: App) {
        misuse(
            "it has crashed: without NSBluetoothAlwaysUsageDescription in its Info.plist nobody can be asked for permission",
            by: Observation.Subject(app: app.identity)
        )
        app.life.handle(.ended(.crashed))
    }

    /// Forgets what was decided of an app: the person is asked once more.
    package func resetPermission(of app: AppIdentity) {
        permissions[app] = nil
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Withdraws a "yes" that a person gave to another program under this name: this one is asked about anew (AB-G07).
    func forgetPermission(ofOtherProgramsThan app: App) {
        guard let decision = permissions[app.identity], decision.permission == .allowedAlways,
            let allowed = decision.executable, let executable = app.life.executable, allowed != executable
        else { return }
        trouble(
            """
            \(app.identity.label) was allowed to use Bluetooth as \(allowed.quotedText), and now is \(executable.quotedText): \
            that "yes" is void
            """
        )
        resetPermission(of: app.identity)
    }

    /// Whether an app may use Bluetooth.
    package func permission(of app: AppIdentity) -> AppPermission {
        let permission = permissions[app]?.permission ?? permissionRule?(app) ?? configuration.permission
        return permission == .notDetermined && !configuration.version.asksForPermission ? .allowedAlways : permission
    }

    /// The radio's state as an app sees it: nothing of it unless it may use Bluetooth.
    func state(for app: AppIdentity) -> ManagerState {
        switch permission(of: app) {
        case .allowedAlways: state
        case .denied, .restricted: .unauthorized
        case .notDetermined: .unknown
        }
    }

    /// What the system can do, for an app.
    func info(for app: AppIdentity) -> SystemInfo {
        let controller = attached.flatMap {
            if case .ready = $0.device.state { $0.device.controllerInformation } else { nil }
        }
        return SystemInfo(
            hasExtendedScanAndConnect: controller?.supportsExtendedAdvertising ?? false,
            permission: permission(of: app)
        )
    }
}

extension AppQuestion {
    /// The question about a process of an app.
    fileprivate init(_ app: App) {
        let declaration = app.life.declaration
        self.init(
            app.identity,
            displayName: declaration.displayName,
            usage: declaration.usageDescription,
            executable: app.life.executable
        )
    }
}
