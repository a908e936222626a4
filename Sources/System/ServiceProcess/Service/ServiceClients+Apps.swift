import Administration
import BluetoothService
import BluetoothTypes
import ServiceMessages

// MARK: - Authorization of conversations

extension ServiceClients {
    func openApp(_ hello: Hello, _ caller: Caller, _ line: any MessageLine) -> Result<any Conversation, ServiceError> {
        let (identity, declaration) = (AppIdentity(name: hello.app.name, owner: caller.user), hello.declaration)
        // A process that answers prompts for the user may not answer those caused by itself as an app (AB-G07).
        for case let tool as ToolSession in conversations(of: caller) where !tool.isProcess(of: identity) {
            return .failure(.answersAlready)
        }
        if let reason = system.configuration.version.refusal(of: declaration.kind) {
            return .failure(ServiceError(.operationNotSupported, reason: reason))
        }
        let isExpected = processes.isLaunchedInBackground(identity)
        if let running = otherProcess(of: identity, declaration, than: caller) {
            // Launching an app that is running brings it to the foreground, like a tap on its icon.
            if !isExpected { _ = running.enter() }
            return .failure(.runsAlready(identity, (running.process as? ConnectedProcess)?.number))
        }
        let app = system.makeApp(
            identity,
            declaring: declaration,
            of: processes.program(of: caller, as: identity),
            inBackground: isExpected && declaration.isManaged
        )
        let conversation = AppConversation(app, line, places: system.places, loop: loop)
        processes.connected(app, caller) { [weak conversation] in conversation?.dismiss?($0) }
        return .success(conversation)
    }

    func openTool(_ caller: Caller, by policy: PolicyFile, _ line: any MessageLine) -> any Conversation {
        let (rights, knows) = (rights(of: caller, by: policy), isVisible(caller))
        let tool = ToolSession(system, rights, user: caller.user, knowsProcess: knows, line)
        for case let app as AppConversation in conversations(of: caller) { _ = tool.isProcess(of: app.app.identity) }
        return tool
    }

    /// The running process of an app with a managed life cycle, which may have only one (behaviour 9.16). If that
    /// process is gone although its connection has not ended yet, it has crashed.
    private func otherProcess(of app: AppIdentity, _ declaration: AppDeclaration, than caller: Caller) -> App? {
        for running in system.apps.running where running.identity == app {
            guard running.declaration.isManaged || declaration.isManaged else { continue }
            guard (running.process as? ConnectedProcess)?.givesWay(to: caller) == true else { return running }
            running.happened(.ended(.crashed))
        }
        return nil
    }

    /// The rights of a tool. A tool of another user than the service's may list peers only if an app of its name may
    /// use Bluetooth.
    private func rights(of caller: Caller, by policy: PolicyFile) -> ToolRights {
        var rights = policy.rights(of: caller.user, owner: access.owner)
        let tool = AppIdentity(name: ToolRights.toolName, owner: caller.user)
        if !access.commands(caller.user), system.apps.permission(of: tool) != .allowedAlways { rights.remove(.inspect) }
        return rights
    }
}

extension ServiceError {
    /// Not a temporary error: the second process does not try again.
    fileprivate static func runsAlready(_ app: AppIdentity, _ process: Int32?) -> ServiceError {
        let number = process.flatMap { $0 > 0 ? " as process \($0)" : nil } ?? ""
        return ServiceError(
            .operationNotSupported,
            reason: """
                \(app.name.quotedName) is already running\(number), and a managed app has only one process; end it \
                with `harald app terminate` before you start another one
                """
        )
    }

    fileprivate static let answersAlready = ServiceError(
        .operationNotSupported,
        reason: "this process answers prompts for the user of the Bluetooth service, so it cannot be an app as well"
    )
}
