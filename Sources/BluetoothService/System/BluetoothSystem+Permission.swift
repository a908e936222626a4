import BluetoothTypes
import EventLoops
import GAP
import HCIHost

/// Asks the user whether an app may use Bluetooth. Used on the loop only.
package protocol PermissionPrompter: AnyObject {
    /// Shows the question. `answer` has to be called once, on the loop.
    func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void)
}

// MARK: - Permission

extension BluetoothSystem {
    /// The number of apps with a decision other than ``SystemConfiguration/permission`` (AB-G05).
    static let maximumPermissions = PermissionRecord.maximumApps

    /// Sets whether an app may use Bluetooth, and notifies its managers (behaviour 1.18).
    ///
    /// - Parameter executable: The path of the program that the decision applies to. Nil for every program of the app.
    package func setPermission(_ permission: AppPermission, for app: AppIdentity, executable: String? = nil) {
        if permissions[app] == nil, permissions.count >= Self.maximumPermissions { forgetDecision() }
        permissions[app] = AppDecision(permission, executable: executable)
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Makes room for a decision. Of the apps that neither run nor are preserved, the user with the most decisions
    /// loses the first one by name.
    private func forgetDecision() {
        let here = Set(runningApps.map(\.identity)).union(preserved.keys)
        let absent = permissions.keys.filter { !here.contains($0) }
        let counts = Dictionary(grouping: absent, by: \.owner).mapValues(\.count)
        guard let owner = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return }
        guard let first = absent.filter({ $0.owner == owner }).min(by: { $0.name < $1.name }) else { return }
        permissions[first] = nil
        trouble(
            "there are \(Self.maximumPermissions) decisions about apps already: the one about \(first.label) is discarded"
        )
    }

    /// Called when the user changes the permission of an app in the settings. A running managed app is ended by that.
    /// Its preserved state stays (behaviour 1.27).
    package func changePermission(_ new: AppPermission, for app: AppIdentity) {
        for running in runningApps where running.identity == app && running.declaration.isManaged {
            if permission(of: running.identity) != new { running.happened(.ended(.removedFromMemory)) }
        }
        setPermission(new, for: app)
    }

    /// Asks the user, once for each app, before the app uses Bluetooth for the first time (behaviour 1.18).
    func askPermission(for app: App) {
        let (identity, executable) = (app.identity, app.life.executable)
        guard permission(of: identity) == .notDetermined, !asking.contains(identity) else { return }
        let declaration = app.life.declaration
        guard !declaration.isManaged || declaration.usageDescription != nil else { return endUndeclared(app) }
        // A question for which there is no room is not refused. It is asked once there is room.
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

    /// Ends an app without a usage description, which crashes in place of the question (behaviour 1.19).
    private func endUndeclared(_ app: App) {
        misuse(
            "the app crashed because its Info.plist lacks NSBluetoothAlwaysUsageDescription, which the prompt requires",
            by: Observation.Subject(app: app.identity)
        )
        app.life.handle(.ended(.crashed))
    }

    /// Forgets the decision about an app. The user is asked again.
    package func resetPermission(of app: AppIdentity) {
        permissions[app] = nil
        records.keep(PermissionRecord(permissions))
        tellStates()
    }

    /// Withdraws the permission that the user gave to another program under the name of this app. The user is asked
    /// again (AB-G07).
    func forgetPermission(ofOtherProgramsThan app: App) {
        guard let decision = permissions[app.identity], decision.permission == .allowedAlways,
            let allowed = decision.executable, let executable = app.life.executable, allowed != executable
        else { return }
        trouble(
            """
            \(app.identity.label) was allowed to use Bluetooth as \(allowed.quotedText), and its program now is \(executable.quotedText): \
            the permission is withdrawn
            """
        )
        resetPermission(of: app.identity)
    }

    /// Returns whether an app may use Bluetooth.
    package func permission(of app: AppIdentity) -> AppPermission {
        let permission = permissions[app]?.permission ?? permissionRule?(app) ?? configuration.permission
        return permission == .notDetermined && !configuration.version.asksForPermission ? .allowedAlways : permission
    }

    /// Returns the radio state as reported to an app, which depends on its permission.
    func state(for app: AppIdentity) -> ManagerState {
        switch permission(of: app) {
        case .allowedAlways: state
        case .denied, .restricted: .unauthorized
        case .notDetermined: .unknown
        }
    }

    /// Returns the capabilities of the system, for an app.
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
    /// Creates the question about an app.
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
