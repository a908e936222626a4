import BluetoothTypes
import EventLoops
import GAP
import HCIHost

/// Asks the person whether an app may use Bluetooth. On the loop.
package protocol PermissionPrompter: AnyObject {
    /// Shows the question with what the app says that Bluetooth is for. `answer` is to be called once, from the loop.
    func askPermission(for app: String, usage: String?, answer: @escaping (Bool) -> Void)
}

// MARK: - Permission

extension BluetoothSystem {
    /// Apps of which something else than ``SystemConfiguration/permission`` may be said (AB-G05).
    static let maximumPermissions = PermissionRecord.maximumApps

    /// Says whether an app may use Bluetooth. Its managers learn of it (behaviour 1.18).
    package func setPermission(_ permission: AppPermission, for app: String) {
        if permissions[app] == nil, permissions.count >= Self.maximumPermissions { forgetDecision() }
        permissions[app] = permission
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Makes room for a decision: the first one by name about an app that neither runs nor is kept is forgotten, and that app asks again.
    private func forgetDecision() {
        let here = Set(runningApps.map(\.identity.name)).union(preserved.keys.map(\.name))
        guard let absent = permissions.keys.filter({ !here.contains($0) }).min() else { return }
        permissions[absent] = nil
        trouble(
            "there are \(Self.maximumPermissions) decisions about apps: the one about \(absent.quotedName) is forgotten"
        )
    }

    /// The person changes in the settings what an app may do: a managed app that runs is ended with that, and what it has preserved stays
    /// (behaviour 1.27).
    package func changePermission(_ new: AppPermission, for app: String) {
        for running in runningApps where running.identity.name == app && running.declaration.isManaged {
            if permission(of: running.identity) != new { running.happened(.ended(.removedFromMemory)) }
        }
        setPermission(new, for: app)
    }

    /// Asks the person, once for each app, before it uses Bluetooth for the first time (behaviour 1.18).
    func askPermission(for app: App) {
        let name = app.identity.name
        guard permission(of: app.identity) == .notDetermined, !asking.contains(app.identity) else { return }
        let declaration = app.life.declaration
        guard !declaration.isManaged || declaration.usageDescription != nil else { return endUndeclared(app) }
        let identity = app.identity
        // Not asking is no answer: the app is asked about when there is room.
        guard let permissionPrompter, hasRoomToAsk(about: identity) else { return }
        asking.insert(identity)
        permissionPrompter.askPermission(for: app.name, usage: declaration.usageDescription) { [weak self] isAllowed in
            guard let self, asking.remove(identity) != nil else { return }
            setPermission(isAllowed ? .allowedAlways : .denied, for: name)
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
    package func resetPermission(of app: String) {
        permissions[app] = nil
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Whether an app may use Bluetooth.
    func permission(of app: AppIdentity) -> AppPermission {
        let permission = permissions[app.name] ?? permissionRule?(app) ?? configuration.permission
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
