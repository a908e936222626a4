import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import ServiceEvents
import ServiceMessages

// MARK: - Status

extension BluetoothSystem {
    package var status: SystemStatus {
        SystemStatus(
            state: controllers.state.name,
            failure: controllers.state == .poweredOn ? nil : controllers.lastFailure.map { "\($0)" },
            recovery: recoveryStatus,
            controller: controllerStatus,
            apps: apps.running.map { AppStatus($0, permission: apps.permission(of: $0.identity)) },
            links: linkSnapshots.map { LinkStatus($0) },
            scans: scanSnapshots.map { ScanStatus($0) },
            advertising: advertisingSnapshots.map { AdvertisingStatus($0) },
            preserved: preservedSnapshots.map { PreservedStatus($0) },
            troubles: troubles.entries.reversed().map { TroubleStatus($0, now: loop.now) },
            energy: energySource?.status
        )
    }

    /// The devices known to the system, up to ``DeviceStatus/maximumShown``: connected devices first, then bonded ones,
    /// then the most recently received.
    package var deviceStatus: [DeviceStatus] {
        let connected = Set(linkSnapshots.map(\.peer))
        let devices = peers.all.map { peer in
            DeviceStatus(
                identifier: peer.identifier,
                name: peer.name,
                rssi: peer.lastReception?.rssi,
                lastSeenSeconds: peer.lastReception.map { Double((loop.now - $0.time).nanoseconds) / 1_000_000_000 },
                isConnected: connected.contains(peer.identifier),
                isBonded: peers.isBonded(peer.identifier)
            )
        }
        return Array(devices.sorted { $0.order < $1.order }.prefix(DeviceStatus.maximumShown))
    }

    /// The bonded devices, with the state of each bond.
    package var bondStatus: [BondStatus] {
        peers.bondedPeers.map {
            BondStatus(
                identifier: $0.identifier,
                name: $0.name,
                authenticated: $0.isAuthenticated,
                hasForgottenUs: $0.hasForgottenUs
            )
        }
    }

    private var recoveryStatus: RecoveryStatus? {
        guard let (step, cause) = recovery else { return nil }
        let advice = step == .powerOff ? SystemNotice.advice(for: cause) : nil
        return RecoveryStatus(step: step.rawValue, cause: "\(cause)", advice: advice)
    }

    private var controllerStatus: ControllerStatus? {
        guard let controller = controllerInformation else { return nil }
        return ControllerStatus(
            place: controller.place,
            address: controller.publicAddress.map { "\($0)" },
            advertisedAddress: controllers.advertisedAddress.map { "\($0)" },
            company: Int(controller.companyIdentifier),
            version: Int(controller.version.rawValue),
            subversion: Int(controller.subversion),
            hasExtendedAdvertising: controller.supportsExtendedAdvertising,
            hasLongPackets: controller.maxTxOctets > 27,
            buffers: controller.aclBufferCount,
            resolvingListSize: controller.resolvingListSize
        )
    }
}

// MARK: - App commands of tools

extension BluetoothSystem {
    package var appsStatus: AppsStatus {
        let status = status
        let installed = appControl?.installedApps.sorted() ?? []
        return AppsStatus(
            apps: status.apps,
            preserved: status.preserved,
            installed: installed,
            permissions: apps.permissions.decisions.map { PermissionStatus($0, $1) }.sorted {
                ($0.app, $0.owner) < ($1.app, $1.owner)
            },
            accessories: accessoryStatus
        )
    }

    private var accessoryStatus: [AccessoryStatus]? {
        let all = apps.accessories.apps.sorted { ($0.name, $0.owner) < ($1.name, $1.owner) }.flatMap { app in
            apps.accessories.accessories(of: app).map { AccessoryStatus($0, of: app) }
        }
        return all.isEmpty ? nil : all
    }

    /// Searches for apps that can be launched, and passes the status of all apps to `completion`, once, on the loop.
    package func findApps(_ completion: @escaping (AppsStatus) -> Void) {
        guard let appControl else { return completion(appsStatus) }
        appControl.findApps { [weak self] in
            if let self { completion(appsStatus) }
        }
    }

    /// Performs a command on the app with this name, or with an executable of this name.
    ///
    /// Calls `completion` once, on the loop.
    ///
    /// - Parameter owner: The user ID of the app. May be nil if only one user has an app with this name.
    package func perform(
        _ verb: AppVerb,
        on name: String,
        of owner: UInt32? = nil,
        completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        if case .launch = verb {
            guard let appControl else { return completion(.failure(.noAppControl("launch apps"))) }
            return appControl.launch(name, of: owner, completion: completion)
        }
        switch app(named: name, of: owner) {
        case .success(let app): perform(verb, on: app, completion)
        case .failure(let error): completion(.failure(error))
        }
    }

    /// Changes an accessory of the app with this name, as the user does in the settings (behaviours 16.7, 16.8).
    package func perform(
        _ verb: AccessoryVerb,
        on accessory: UUID,
        ofApp name: String,
        of owner: UInt32? = nil
    ) -> Result<Void, ServiceError> {
        app(named: name, of: owner).flatMap { app in
            guard let known = apps.accessories.accessories(of: app).first(where: { $0.identifier == accessory }) else {
                return .failure(.unknownAccessory(accessory, app.name))
            }
            switch verb {
            case .remove: _ = apps.accessories.remove(accessory, of: app)
            case .rename(let name):
                guard known.renamed(to: name) != nil else { return .failure(.blankName) }
                _ = apps.accessories.rename(accessory, of: app, to: name)
            }
            return .success(())
        }
    }

    private func perform(
        _ verb: AppVerb,
        on app: AppIdentity,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        switch verb {
        case .launch: break
        case .resetPermission:
            guard isKnown(app) else { return completion(.failure(.unknownApp(app.name))) }
            apps.permissions.reset(app)
            completion(.success(()))
        case .revokePermission:
            apps.permissions.change(to: .denied, for: app)
            completion(.success(()))
        case .background, .foreground, .suspend, .startLiveActivity, .endLiveActivity: completion(move(verb, app))
        case .terminate: end(app, .removedFromMemory, completion)
        case .forceQuit: end(app, .forceQuit, completion)
        }
    }

    /// Resolves an app's name, or that of its executable if no app has the name. An unknown app belongs to the user of
    /// the service.
    private func app(named name: String, of owner: UInt32?) -> Result<AppIdentity, ServiceError> {
        let known = knownApps.filter { (owner ?? $0.owner) == $0.owner }
        let named = known.filter { $0.name == name }
        let found = named.isEmpty ? known.intersection(runningApps(withExecutable: name)) : named
        let owners = Set(found.map(\.owner)).sorted()
        guard owners.count < 2 else { return .failure(.ofSeveralUsers(name, owners)) }
        let names = Set(found.map(\.name)).sorted()
        guard names.count < 2 else { return .failure(.ofSeveralApps(name, names)) }
        return .success(found.first ?? AppIdentity(name: name, owner: owner ?? configuration.user))
    }

    private var knownApps: Set<AppIdentity> {
        Set(apps.running.map(\.identity)).union(preservedSnapshots.map(\.app)).union(apps.permissions.decisions.keys)
            .union(apps.accessories.apps)
    }

    private func isKnown(_ app: AppIdentity) -> Bool {
        knownApps.contains(app) || appControl?.installedApps.contains(app.name) == true
    }

    /// The running apps whose executable has this name, without its directory.
    private func runningApps(withExecutable name: String) -> Set<AppIdentity> {
        Set(apps.running.filter { $0.executable?.hasSuffix("/\(name)") == true }.map(\.identity))
    }

    private func move(_ verb: AppVerb, _ app: AppIdentity) -> Result<Void, ServiceError> {
        let found = apps.running.filter { $0.identity == app }
        guard !found.isEmpty else { return .failure(.notRunning(app.name)) }
        let managed = found.filter(\.declaration.isManaged)
        guard !managed.isEmpty else { return .failure(.unmanaged(app.name)) }
        if let error = refusal(of: verb, for: managed, app) { return .failure(error) }
        for app in managed { app.move(verb) }
        return .success(())
    }

    /// The reason why a Live Activity cannot start or end, or an app come to the front (behaviours 9.18, 9.20).
    private func refusal(of verb: AppVerb, for found: [App], _ app: AppIdentity) -> ServiceError? {
        let name = app.name.quotedName
        switch verb {
        case .foreground where found.allSatisfy(\.declaration.kind.isExtension):
            let reason = "\(name) is an app extension, which has no foreground"
            return ServiceError(.operationNotSupported, reason: reason)
        case .startLiveActivity where !found.contains(where: \.canStartActivity):
            let reason = "\(name) is not in the foreground, where alone a Live Activity starts: harald app foreground"
            return ServiceError(.operationNotSupported, reason: reason)
        case .endLiveActivity where !found.contains(where: \.hasActivity):
            return ServiceError(.operationNotSupported, reason: "\(name) has no Live Activity")
        default: return nil
        }
    }

    private func end(
        _ app: AppIdentity,
        _ end: AppEnd,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        let found = apps.running.filter { $0.identity == app }
        guard !found.isEmpty || preservedSnapshots.contains(where: { $0.app == app }) else {
            return completion(.failure(.notRunning(app.name)))
        }
        // Force-quitting an app that is not running discards its preserved state (behaviour 10.16).
        if end == .forceQuit { apps.preservation.userForceQuit(app) }
        let held = found.filter { $0.process != nil }
        for app in held { app.happened(.ended(end)) }
        var left = found.count - held.count
        guard left > 0 else {
            let isDone = !held.isEmpty || end == .forceQuit
            return completion(isDone ? .success(()) : .failure(.notRunning(app.name)))
        }
        guard let appControl else { return completion(.failure(.noAppControl("end \(app.name.quotedName)"))) }
        var failure: ServiceError?
        for _ in 0..<left {
            appControl.end(app, end) { result in
                if case .failure(let error) = result { failure = failure ?? error }
                left -= 1
                if left == 0 { completion(failure.map { .failure($0) } ?? .success(())) }
            }
        }
    }
}

extension App {
    fileprivate func move(_ verb: AppVerb) {
        switch verb {
        case .foreground: happened(.entered)
        case .background: happened(.left)
        case .suspend:
            happened(.left)
            // An app with a background task gets a second time span, so its time has to be up twice (behaviour 9.1).
            for _ in 0..<2 where phase == .background { happened(.timeIsUp) }
        case .startLiveActivity: happened(.liveActivity(true))
        case .endLiveActivity: happened(.liveActivity(false))
        case .launch, .terminate, .forceQuit, .resetPermission, .revokePermission: break
        }
    }
}

extension ServiceError {
    fileprivate static func noAppControl(_ what: String) -> ServiceError {
        let reason = "this service cannot \(what): it does not manage the processes of apps; do that in the app itself"
        return ServiceError(.operationNotSupported, reason: reason)
    }

    fileprivate static func notRunning(_ name: String) -> ServiceError {
        ServiceError(
            .unknownDevice,
            reason: "no app \(name.quotedName) is running; `harald app list` lists those that are"
        )
    }

    fileprivate static func unknownApp(_ name: String) -> ServiceError {
        ServiceError(.unknownDevice, reason: "there is no app \(name.quotedName); `harald app list` lists all")
    }

    fileprivate static func unknownAccessory(_ accessory: UUID, _ name: String) -> ServiceError {
        let reason =
            "\(name.quotedName) has set up no accessory \(accessory); `harald app list` lists those of all apps"
        return ServiceError(.unknownDevice, reason: reason)
    }

    fileprivate static let blankName = ServiceError(
        .invalidParameters,
        reason: "the name of an accessory must not be blank"
    )

    fileprivate static func ofSeveralApps(_ name: String, _ names: [String]) -> ServiceError {
        let apps = names.map(\.quotedName).joined(separator: " and ")
        let reason = "\(name.quotedName) is the executable of \(apps); name one of them"
        return ServiceError(.invalidParameters, reason: reason)
    }

    fileprivate static func ofSeveralUsers(_ name: String, _ owners: [UInt32]) -> ServiceError {
        let users = owners.map(String.init).joined(separator: ", ")
        let reason = "users \(users) each have an app \(name.quotedName); select one with --user"
        return ServiceError(.invalidParameters, reason: reason)
    }

    fileprivate static func unmanaged(_ name: String) -> ServiceError {
        let reason =
            "\(name.quotedName) is an unmanaged app, which is always in the foreground; declare it as managed to change its phase"
        return ServiceError(.operationNotSupported, reason: reason)
    }
}
