import Administration
import BluetoothService
import EventLoops
import Logging
import ServiceMessages

/// The clients of the service: accepts connections, creates a conversation for each, and enforces their limits. Used on
/// the event loop of its system.
package final class ServiceClients {
    let system: BluetoothSystem
    let loop: any EventLoop
    let access: AccessRule
    let processes: AppProcesses
    private let logger: Logger
    private var refusals = LogBudget<UInt32>()
    private var clients: [ObjectIdentifier: (session: ClientSession, caller: Caller)] = [:]

    /// Creates the clients of `system`. Launched apps find the service at `socket`. Call on the event loop.
    package init(
        of system: BluetoothSystem,
        socket: String,
        loop: any EventLoop,
        access: AccessRule,
        installed: InstalledApps? = nil,
        table: ProcessTable = .ofKernel,
        programs: any ProgramLauncher,
        freezer: Freezer? = nil,
        logger: Logger
    ) {
        self.system = system
        self.loop = loop
        self.access = access
        self.logger = logger
        processes = AppProcesses(
            system,
            socket: socket,
            installed: installed,
            table: table,
            programs: programs,
            freezer: freezer,
            loop: loop,
            logger: logger
        )
        system.apps.preservation.launcher = processes
        system.appControl = processes
    }

    package var callers: [Caller] { clients.values.map(\.caller) }

    /// Whether the number of the caller's process is known. 0 stands for any process that is not visible to this one.
    func isVisible(_ caller: Caller) -> Bool { caller.process > 1 }

    func conversations(of caller: Caller) -> [any Conversation] {
        guard isVisible(caller) else { return [] }
        return clients.values.filter { $0.caller.process == caller.process }.compactMap(\.session.conversation)
    }

    /// Accepts a connection of a process, or refuses it if there are too many.
    package func accept(_ line: any MessageLine, from caller: Caller) {
        // Users that control the service may exceed the share of other users, but still leave room for these.
        let refusal = ServiceLimits.clients.refusal(
            "clients of the Bluetooth service",
            forUser: caller.user,
            beside: clients.values.map(\.caller.user),
            mayExceedShare: access.commands(caller.user)
        )
        let session = ClientSession(line, caller, server: self)
        let key = ObjectIdentifier(session)
        clients[key] = (session, caller)
        session.onEnd = { [weak self] in self?.clients[key] = nil }
        if let refusal { session.end(refusal) }
    }

    package func close() {
        let gone = ServiceError(.operationCancelled, reason: "the Bluetooth service is shutting down")
        for client in Array(clients.values) { client.session.end(gone) }
    }

    func open(
        _ opening: Opening,
        _ caller: Caller,
        _ line: any MessageLine
    ) -> Result<any Conversation, ServiceError> {
        let policy = system.promptDesk?.policy ?? PolicyFile()
        let isPrompter = policy.prompters.contains(caller.user)
        if let refusal = access.refusal(of: caller.user), !(opening.isOfTool && isPrompter) { return .failure(refusal) }
        switch opening {
        case .app(let hello): return openApp(hello, caller, line)
        case .tool: return .success(openTool(caller, by: policy, line))
        }
    }

    /// Logs why a process is refused or disconnected. The number of log lines per user is bounded (AB-G05).
    func refused(_ caller: Caller, _ error: ServiceError) {
        let line = "process \(caller.process) of user \(caller.user): \(error.reason ?? "ended")"
        switch refusals.verdict(on: caller.user, at: loop.now) {
        case .log: logger.notice("\(line)")
        case .logAsLast: logger.notice("\(line); further refusals of this user are not logged for up to a minute")
        case .drop: break
        }
    }
}

extension Opening {
    fileprivate var isOfTool: Bool {
        if case .tool = self { true } else { false }
    }
}

/// Decides who may use a service, by the user that the kernel reports.
package struct AccessRule: Hashable, Sendable {
    /// The user that the service runs as.
    package var owner: UInt32
    /// Whether apps of other users are admitted. The permission bits of the socket have to allow them to connect as
    /// well.
    package var admitsOtherUsers: Bool

    package init(owner: UInt32, admitsOtherUsers: Bool = false) {
        self.owner = owner
        self.admitsOtherUsers = admitsOtherUsers
    }

    /// Whether a user controls the service, in addition to using it.
    package func commands(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// The error for a user who is not admitted; nil for one who is.
    func refusal(of user: UInt32) -> ServiceError? {
        guard !admitsOtherUsers, !commands(user) else { return nil }
        return ServiceError(
            .operationNotSupported,
            reason: """
                this Bluetooth service is for user \(owner), and this program runs as user \(user); run `harald service` as \
                that user and name its socket in HARALD_SERVICE, or admit other users with `harald service --all-users`
                """
        )
    }
}
