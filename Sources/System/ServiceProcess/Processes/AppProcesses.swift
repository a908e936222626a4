import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import Logging
import ServiceMessages

/// The processes of apps on this machine: launches apps that have pending events, and identifies the processes that
/// connect. Used on the event loop.
package final class AppProcesses: AppLauncher {
    /// The maximum number of launched programs that are running at a time (AB-G05).
    package static let maximumLaunched = 64

    /// The maximum number of apps whose launch commands are remembered (AB-G05).
    package static let maximumKnown = 256
    /// How long a process may take to end after SIGTERM.
    static let terminationTimeout = Duration.seconds(5)

    /// The path at which processes find the service.
    private let socket: String
    private let loop: any EventLoop
    private let logger: Logger
    private unowned let system: BluetoothSystem
    private let programs: any ProgramLauncher
    /// The launched programs that have not ended, by the number of the launch.
    private var launched: [UInt64: (app: AppIdentity, process: Int32?)] = [:]
    private var lastLaunch: UInt64 = 0
    /// The apps that were launched in the background and have not connected yet.
    private var expected: Set<AppIdentity> = []
    /// The launch commands of apps that have connected, least recently connected first.
    private var known: [(app: AppIdentity, command: [String])] = []
    private let catalog: AppCatalog
    private let table: ProcessTable
    /// Freezes suspended apps; nil if that is not enabled.
    let freezer: Freezer?

    /// Creates the processes of the apps of `system`, which find the service at `socket`. Call on the event loop.
    package init(
        _ system: BluetoothSystem,
        socket: String,
        installed: InstalledApps? = nil,
        table: ProcessTable = .ofKernel,
        programs: any ProgramLauncher,
        freezer: Freezer? = nil,
        loop: any EventLoop,
        logger: Logger
    ) {
        self.system = system
        self.programs = programs
        catalog = AppCatalog(loop: loop, installed.map { $0.commands })
        self.table = table
        self.freezer = freezer
        self.socket = socket
        self.loop = loop
        self.logger = logger
    }

    /// Launches a preserved app in the background (behaviour 10.4).
    package func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        guard let command = system.apps.preservation.declaration(of: app)?.launchCommand, !command.isEmpty else {
            system.observers.trouble(
                "\(app.label) has pending events and cannot be launched: its Info.plist has no HaraldLaunch"
            )
            return system.apps.preservation.launchEnded(app)
        }
        launch(app, command, restoring: managers, inBackground: true) { [weak self] result in
            guard let self, case .failure(let error) = result else { return }
            system.observers.trouble("\(app.label) cannot be launched: \(error)")
            system.apps.preservation.launchEnded(app)
        }
    }

    package func isRunning(_ process: ProcessMark) -> Bool {
        table.beginning(Int32(clamping: process.number)) == process.beginning
    }

    /// The reason why an app cannot be launched.
    package enum LaunchError: Error, Hashable, CustomStringConvertible {
        case ofAnotherUser(UInt32)
        case tooMany
        case notRun(String)

        package var description: String {
            switch self {
            case .ofAnotherUser(let user):
                "it belongs to user \(user), whose programs this service cannot start; run a service as that user"
            case .tooMany: "\(AppProcesses.maximumLaunched) programs that the service has launched are already running"
            case .notRun(let reason): reason
            }
        }
    }

    /// Starts the program of an app. `completion` is called once, on the event loop.
    func launch(
        _ app: AppIdentity,
        _ command: [String],
        restoring managers: RestoreIdentifiers,
        inBackground: Bool,
        completion: @escaping (Result<Void, LaunchError>) -> Void
    ) {
        guard app.owner == table.user else { return completion(.failure(.ofAnotherUser(app.owner))) }
        guard launched.count < Self.maximumLaunched else { return completion(.failure(.tooMany)) }
        guard let path = command.first, path.hasPrefix("/") else {
            return completion(.failure(.notRun("HaraldLaunch has to begin with the absolute path of a program")))
        }
        let launch = LaunchCommand(
            app,
            command,
            variables: [
                ServicePath.variable: socket, RestoreIdentifiers.variable: managers.environmentValue,
            ],
            environment: ProcessInfo.processInfo.environment
        )
        lastLaunch += 1
        let number = lastLaunch
        launched[number] = (app, nil)
        // This precedes the start because the process may connect before the launcher returns. At the limit, entries
        // left over are from apps that will not connect any more.
        if expected.count >= Self.maximumLaunched { expected.removeAll() }
        if inBackground { expected.insert(app) }
        programs.start(launch.program) { [weak self] event in
            self?.happened(event, to: number, path, completion)
        }
    }

    private func happened(
        _ event: ProgramEvent,
        to number: UInt64,
        _ path: String,
        _ completion: (Result<Void, LaunchError>) -> Void
    ) {
        guard let app = launched[number]?.app else { return }
        switch event {
        case .started(let started):
            launched[number]?.process = started.process
            logger.notice("launched \(app.name) as process \(started.process)")
            if let mark = table.mark(started.process) { system.apps.preservation.launchStarted(app, as: mark) }
            completion(.success(()))
        case .notStarted(let code):
            forget(number, app)
            completion(.failure(.notRun("\(path): \(String(cString: strerror(code)))")))
        case .ended(let end):
            logger.notice("the process launched for \(app.name) has ended: \(end)")
            // A process that never connected has no ``App``. The app's preserved state waits for the next event
            // (behaviour 10.15).
            if forget(number, app) { system.apps.preservation.launchEnded(app) }
        }
    }

    /// Removes a launch. Returns whether it was the last one of its app.
    @discardableResult
    private func forget(_ number: UInt64, _ app: AppIdentity) -> Bool {
        launched[number] = nil
        guard !launched.values.contains(where: { $0.app == app }) else { return false }
        expected.remove(app)
        return true
    }

    /// Whether an app that connects was launched in the background. Resets the state, so call it once per connection.
    func isLaunchedInBackground(_ app: AppIdentity) -> Bool { expected.remove(app) != nil }

    /// Whether a caller is the process that was launched for an app, or runs in the unit that was.
    private func isLaunched(_ caller: Caller, as app: AppIdentity) -> Bool {
        guard app.owner == table.user else { return false }
        return launched.values.contains { $0.app == app && $0.process == caller.process }
            || table.unit(caller.process) == LaunchCommand.unit(of: app)
    }

    /// The program that a caller runs. The kernel's information about the process number is valid for the caller only
    /// if the caller is still running afterwards.
    func program(of caller: Caller, as app: AppIdentity) -> AppProgram {
        guard let process = KnownProcess(of: caller, in: table) else { return AppProgram() }
        let executable = table.executable(caller.process)
        guard process.exists(in: table) else { return AppProgram() }
        return AppProgram(executable, isLaunched: isLaunched(caller, as: app))
    }

    func exists(_ process: KnownProcess) -> Bool { process.exists(in: table) }
}

// MARK: - Connected processes

extension AppProcesses {
    /// Registers the process of an app that has connected. `dismiss` ends the conversation with it.
    func connected(_ app: App, _ caller: Caller, dismiss: @escaping (ServiceError) -> Void) {
        let process = ConnectedProcess(
            app,
            caller,
            KnownProcess(of: caller, in: table),
            unit: unit(of: app.identity, caller),
            mark: table.mark(caller.process),
            processes: self,
            dismiss: dismiss
        )
        app.runs(in: process)
        let command = app.declaration.launchCommand
        // The declaration of an app must not make the service start programs as another user.
        guard !command.isEmpty, app.identity.owner == table.user else { return }
        known.removeAll { $0.app == app.identity }
        if known.count >= Self.maximumKnown { known.removeFirst() }
        known.append((app.identity, command))
    }

    /// The unit in which an app of this user was launched; nil if it was not launched as one. Only such units are
    /// frozen, because other units may contain other processes.
    private func unit(of app: AppIdentity, _ caller: Caller) -> String? {
        guard freezer != nil, app.owner == table.user else { return nil }
        let unit = LaunchCommand.unit(of: app)
        return table.unit(caller.process) == unit ? unit : nil
    }

    /// Ends a process with SIGTERM, and after ``terminationTimeout`` with SIGKILL.
    func end(_ process: KnownProcess?, of caller: Caller) {
        guard let process, caller.user == table.user else {
            return logger.notice(
                "this service cannot end process \(caller.process) of user \(caller.user), which keeps running; end it yourself"
            )
        }
        guard process.exists(in: table) else { return }
        process.signal(SIGTERM, in: table)
        loop.schedule(after: Self.terminationTimeout) { [table] in
            if process.exists(in: table) { process.signal(SIGKILL, in: table) }
        }
    }
}

// MARK: - App management

extension AppProcesses: AppControl {
    private var commands: [String: [String]] {
        var commands = catalog.commands
        for (app, command) in known where commands[app.name] == nil { commands[app.name] = command }
        return commands
    }

    /// The apps with an `Info.plist` in the directory of apps, and those that have declared a launch command.
    package var installedApps: [String] { commands.keys.sorted() }

    package func findApps(_ completion: @escaping () -> Void) { catalog.refresh(completion) }

    /// Launches an app, or brings it to the foreground if it is running.
    package func launch(
        _ name: String,
        of owner: UInt32?,
        completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        let identity = AppIdentity(name: name, owner: owner ?? table.user)
        if enter(identity) { return completion(.success(())) }
        catalog.refresh { [weak self] in self?.launchInstalled(identity, completion) }
    }

    private func enter(_ app: AppIdentity) -> Bool {
        system.apps.running.first { $0.identity == app }?.enter() ?? false
    }

    private func launchInstalled(
        _ identity: AppIdentity,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        let name = identity.name
        // The app may have started while the directory was being read.
        if enter(identity) { return completion(.success(())) }
        guard let command = commands[name] else {
            let reason =
                "no app \(name.quotedName) can be launched; `harald app list` shows the apps that can, by their Info.plist"
            return completion(.failure(ServiceError(.unknownDevice, reason: reason)))
        }
        system.apps.preservation.personOpens(identity)
        // Its process is there, and has not connected yet. An app has one process; it is in front now.
        if launched.values.contains(where: { $0.app == identity }) {
            expected.remove(identity)
            return completion(.success(()))
        }
        launch(identity, command, restoring: RestoreIdentifiers(), inBackground: false) { result in
            completion(
                result.mapError { ServiceError(.unknown, reason: "\(name.quotedName) cannot be launched: \($0)") }
            )
        }
    }

    /// Fails: the service knows no process of an app that has no conversation.
    package func end(_ app: AppIdentity, _ end: AppEnd, completion: @escaping (Result<Void, ServiceError>) -> Void) {
        let reason = "the process of \(app.name.quotedName) is not connected to this service; end it yourself"
        completion(.failure(ServiceError(.operationNotSupported, reason: reason)))
    }
}
