import BluetoothTypes

/// Whoever has the processes of apps in hand, for what a person's tool wants of them. On the loop.
package protocol AppManagement: AnyObject {
    /// The names of the apps that can be launched.
    var installedApps: [String] { get }
    /// Launches an app in front of the person. `completion` is called once, on the loop.
    func launch(_ name: String, completion: @escaping (Result<Void, ServiceError>) -> Void)
    /// Ends the process of an app, which the service learns of as of any end.
    func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void)
}

// MARK: - What tools do to apps

extension BluetoothSystem {
    /// All apps.
    package var appsStatus: AppsStatus {
        let status = status
        let installed = appManagement?.installedApps.sorted() ?? []
        return AppsStatus(apps: status.apps, preserved: status.preserved, installed: installed)
    }

    /// Does something to the app of this name. Of several, whose owners are different, to all of them. `completion` is called once,
    /// on the loop.
    package func perform(
        _ verb: AppVerb,
        on name: String,
        completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        switch verb {
        case .launch:
            guard let appManagement else { return completion(.failure(.noAppManagement("launch apps"))) }
            appManagement.launch(name, completion: completion)
        case .resetPermission:
            resetPermission(of: name)
            completion(.success(()))
        case .revokePermission:
            changePermission(.denied, for: name)
            completion(.success(()))
        case .background, .foreground, .suspend: completion(move(verb, name))
        case .terminate: end(name, .removedFromMemory, completion)
        case .forceQuit: end(name, .forceQuit, completion)
        }
    }

    private func move(_ verb: AppVerb, _ name: String) -> Result<Void, ServiceError> {
        let found = runningApps.filter { $0.identity.name == name }
        guard !found.isEmpty else { return .failure(.notRunning(name)) }
        let managed = found.filter(\.life.declaration.isManaged)
        guard !managed.isEmpty else { return .failure(.unmanaged(name)) }
        for app in managed { app.life.move(verb) }
        return .success(())
    }

    private func end(_ name: String, _ end: AppEnd, _ completion: @escaping (Result<Void, ServiceError>) -> Void) {
        let found = runningApps.filter { $0.identity.name == name }
        let kept = preserved.keys.filter { $0.name == name }
        guard !found.isEmpty || !kept.isEmpty else { return completion(.failure(.notRunning(name))) }
        // What is kept of an app that does not run goes when the person ends it (behaviour 10.16).
        if end == .forceQuit { for identity in kept { discardPreserved(of: identity) } }
        let held = found.filter { $0.life.process != nil }
        for app in held { app.life.handle(.ended(end)) }
        let others = found.filter { $0.life.process == nil }.map(\.identity)
        guard !others.isEmpty else {
            let isDone = !held.isEmpty || end == .forceQuit
            return completion(isDone ? .success(()) : .failure(.notRunning(name)))
        }
        guard let appManagement else { return completion(.failure(.noAppManagement("end \(name.quotedName)"))) }
        var (left, failure) = (others.count, ServiceError?.none)
        for app in others {
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

    fileprivate static func unmanaged(_ name: String) -> ServiceError {
        let reason =
            "\(name.quotedName) is an unmanaged app, which is always in the foreground; declare it as managed to move it"
        return ServiceError(.operationNotSupported, reason: reason)
    }
}
