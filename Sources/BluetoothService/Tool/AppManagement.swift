import BluetoothTypes

/// Whoever has the processes of apps in hand, for what a person's tool wants of them. On the loop.
package protocol AppManagement: AnyObject {
    /// The names of the apps that can be launched, as they were when ``findApps(_:)`` last looked.
    var installedApps: [String] { get }
    /// Looks for apps that can be launched. `completion` is called once, on the loop, also where looking takes too long.
    func findApps(_ completion: @escaping () -> Void)
    /// Launches an app in front of the person. `completion` is called once, on the loop.
    ///
    /// - Parameter owner: The number of its user; nil for that of the service.
    func launch(_ name: String, of owner: UInt32?, completion: @escaping (Result<Void, ServiceError>) -> Void)
    /// Ends the process of an app, which the service learns of as of any end.
    func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void)
}

// MARK: - What tools do to apps

extension BluetoothSystem {
    /// All apps.
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

    /// All apps, with those that can be launched by now. `completion` is called once, on the loop.
    package func findApps(_ completion: @escaping (AppsStatus) -> Void) {
        guard let appManagement else { return completion(appsStatus) }
        appManagement.findApps { [weak self] in
            if let self { completion(appsStatus) }
        }
    }

    /// Does something to the app of this name. `completion` is called once, on the loop.
    ///
    /// - Parameter owner: The number of the user whose app it is; nil where one user alone has an app of this name.
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

    /// Which app a person means. One that nobody knows is the one of the service's own user.
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
        // What is kept of an app that does not run goes when the person ends it (behaviour 10.16).
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
    /// The person does this to the app.
    fileprivate func move(_ verb: AppVerb) {
        switch verb {
        case .foreground: handle(.entered)
        case .background: handle(.left)
        case .suspend:
            handle(.left)
            // Of an app that wants to finish something the first time is renewed once (behaviour 9.1).
            for _ in 0..<2 where phase == .background { handle(.timeIsUp) }
        case .launch, .terminate, .forceQuit, .resetPermission, .revokePermission: break
        }
    }
}

extension ServiceError {
    fileprivate static func noAppManagement(_ what: String) -> ServiceError {
        let reason = "this service cannot \(what): it has no processes in hand; do that with the app itself"
        return ServiceError(.operationNotSupported, reason: reason)
    }

    fileprivate static func notRunning(_ name: String) -> ServiceError {
        ServiceError(.unknownDevice, reason: "no app \(name.quotedName) is running; `harald app list` shows which are")
    }

    fileprivate static func ofSeveralUsers(_ name: String, _ owners: [UInt32]) -> ServiceError {
        let users = owners.map(String.init).joined(separator: ", ")
        let reason = "the users \(users) all have an app \(name.quotedName); say whose it is with --user"
        return ServiceError(.invalidParameters, reason: reason)
    }

    fileprivate static func unmanaged(_ name: String) -> ServiceError {
        let reason =
            "\(name.quotedName) is an unmanaged app, which is always in the foreground; declare it as managed to move it"
        return ServiceError(.operationNotSupported, reason: reason)
    }
}
