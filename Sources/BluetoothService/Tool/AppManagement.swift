import BluetoothTypes

/// The component that controls the processes of apps, on behalf of the user's tools. Used on the loop only.
package protocol AppManagement: AnyObject {
    /// The names of the apps that can be launched, as of the last ``findApps(_:)``.
    var installedApps: [String] { get }
    /// Searches for apps that can be launched. Calls `completion` once, on the loop, even if the search times out.
    func findApps(_ completion: @escaping () -> Void)
    /// Launches an app in the foreground. Calls `completion` once, on the loop.
    ///
    /// - Parameter owner: The user ID to run it as. Nil for the user of the service.
    func launch(_ name: String, of owner: UInt32?, completion: @escaping (Result<Void, ServiceError>) -> Void)
    /// Ends the process of an app. The service is notified as of any end of a process. Calls `completion` once, on the
    /// loop.
    func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void)
}

// MARK: - App commands of tools

extension BluetoothSystem {
    /// The status of all apps.
    package var appsStatus: AppsStatus {
        let status = status
        let installed = appManagement?.installedApps.sorted() ?? []
        return AppsStatus(
            apps: status.apps,
            preserved: status.preserved,
            installed: installed,
            permissions: permissions.map { PermissionStatus($0, $1) }.sorted { ($0.app, $0.owner) < ($1.app, $1.owner) }
        )
    }

    /// Searches for apps that can be launched, and passes the status of all apps to `completion`, once, on the loop.
    package func findApps(_ completion: @escaping (AppsStatus) -> Void) {
        guard let appManagement else { return completion(appsStatus) }
        appManagement.findApps { [weak self] in
            if let self { completion(appsStatus) }
        }
    }

    /// Performs a command on the app with this name. Calls `completion` once, on the loop.
    ///
    /// - Parameter owner: The user ID of the app. May be nil if only one user has an app with this name.
    package func perform(
        _ verb: AppVerb,
        on name: String,
        of owner: UInt32? = nil,
        completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        if case .launch = verb {
            guard let appManagement else { return completion(.failure(.noAppManagement("launch apps"))) }
            return appManagement.launch(name, of: owner, completion: completion)
        }
        switch app(named: name, of: owner) {
        case .success(let app): perform(verb, on: app, completion)
        case .failure(let error): completion(.failure(error))
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
            resetPermission(of: app)
            completion(.success(()))
        case .revokePermission:
            changePermission(.denied, for: app)
            completion(.success(()))
        case .background, .foreground, .suspend: completion(move(verb, app))
        case .terminate: end(app, .removedFromMemory, completion)
        case .forceQuit: end(app, .forceQuit, completion)
        }
    }

    /// Resolves an app's name. An unknown app belongs to the user of the service.
    private func app(named name: String, of owner: UInt32?) -> Result<AppIdentity, ServiceError> {
        if let owner { return .success(AppIdentity(name: name, owner: owner)) }
        let known = runningApps.map(\.identity) + preserved.keys + permissions.keys
        let owners = Set(known.filter { $0.name == name }.map(\.owner)).sorted()
        guard owners.count < 2 else { return .failure(.ofSeveralUsers(name, owners)) }
        return .success(AppIdentity(name: name, owner: owners.first ?? configuration.user))
    }

    private func move(_ verb: AppVerb, _ app: AppIdentity) -> Result<Void, ServiceError> {
        let found = runningApps.filter { $0.identity == app }
        guard !found.isEmpty else { return .failure(.notRunning(app.name)) }
        let managed = found.filter(\.life.declaration.isManaged)
        guard !managed.isEmpty else { return .failure(.unmanaged(app.name)) }
        for app in managed { app.life.move(verb) }
        return .success(())
    }

    private func end(
        _ app: AppIdentity,
        _ end: AppEnd,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        let found = runningApps.filter { $0.identity == app }
        guard !found.isEmpty || preserved[app] != nil else { return completion(.failure(.notRunning(app.name))) }
        // Force-quitting an app that is not running discards its preserved state (behaviour 10.16).
        if end == .forceQuit { discardPreserved(of: app) }
        let held = found.filter { $0.life.process != nil }
        for app in held { app.life.handle(.ended(end)) }
        var left = found.count - held.count
        guard left > 0 else {
            let isDone = !held.isEmpty || end == .forceQuit
            return completion(isDone ? .success(()) : .failure(.notRunning(app.name)))
        }
        guard let appManagement else { return completion(.failure(.noAppManagement("end \(app.name.quotedName)"))) }
        var failure: ServiceError?
        for _ in 0..<left {
            appManagement.end(app, end) { result in
                if case .failure(let error) = result { failure = failure ?? error }
                left -= 1
                if left == 0 { completion(failure.map { .failure($0) } ?? .success(())) }
            }
        }
    }
}

extension AppLife {
    /// Applies the command to the life cycle.
    fileprivate func move(_ verb: AppVerb) {
        switch verb {
        case .foreground: handle(.entered)
        case .background: handle(.left)
        case .suspend:
            handle(.left)
            // An app with a background task gets a second time span, so its time has to be up twice (behaviour 9.1).
            for _ in 0..<2 where phase == .background { handle(.timeIsUp) }
        case .launch, .terminate, .forceQuit, .resetPermission, .revokePermission: break
        }
    }
}

extension ServiceError {
    fileprivate static func noAppManagement(_ what: String) -> ServiceError {
        let reason = "this service cannot \(what): it does not manage the processes of apps; do that in the app itself"
        return ServiceError(.operationNotSupported, reason: reason)
    }

    fileprivate static func notRunning(_ name: String) -> ServiceError {
        ServiceError(
            .unknownDevice,
            reason: "no app \(name.quotedName) is running; `harald app list` lists those that are"
        )
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
