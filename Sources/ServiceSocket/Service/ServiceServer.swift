import BluetoothService
import EventLoops
import Foundation
import HCITransports
import Logging
import NIOCore
import NIOPosix

/// Lets the processes of apps and tools in, which connect to a Unix socket. Lives on the loop of its system.
package final class ServiceServer {
    /// Processes that are connected at a time; one more is told so, and closed (AB-G05).
    package static let maximumClients = 256
    /// Processes of one user other than the service's at a time.
    package static let maximumClientsOfUser = 64
    /// Octets that are read of one process before others have their turn (AB-G05).
    static let readAtOnce = 2_048

    let system: BluetoothSystem
    let loop: NIOEventLoop
    private let access: AccessRule
    private let processes: AppProcesses
    private let logger: Logger
    private var channel: (any Channel)?
    private var clients: [ObjectIdentifier: (session: ClientSession, caller: Caller)] = [:]

    /// A server of `system`, whose apps find it at `socket` when they are launched. On the loop.
    package init(
        _ system: BluetoothSystem,
        socket: String,
        loop: NIOEventLoop,
        access: AccessRule,
        logger: Logger
    ) {
        self.system = system
        self.loop = loop
        self.access = access
        self.logger = logger
        processes = AppProcesses(system, socket: socket, loop: loop, logger: logger)
        system.launcher = processes
    }

    /// Listens on a socket that is bound already. On the loop.
    ///
    /// - Parameter completion: Called on the loop once it does, or with the reason why it does not.
    package func listen(on descriptor: Int32, completion: @escaping (Result<Void, SocketLineError>) -> Void) {
        let server = LoopBound(self, loop: loop)
        let done = LoopBound(completion, loop: loop)
        ServerBootstrap(group: loop.nio)
            .serverChannelOption(.backlog, value: 64)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { server.value.accept(channel) }
            }
            .withBoundSocket(descriptor)
            .whenComplete { result in
                server.value.loop.arrive {
                    switch result {
                    case .success(let channel):
                        server.value.channel = channel
                        done.value(.success(()))
                    case .failure(let error): done.value(.failure(.failed(reason: SocketLine.reason(of: error))))
                    }
                }
            }
    }

    /// Lets nobody in any more, and ends all conversations. On the loop.
    package func close() {
        channel?.close(promise: nil)
        let gone = ServiceError(.operationCancelled, reason: "the Bluetooth service ends")
        for client in Array(clients.values) { client.session.end(gone) }
    }

    /// Those who are connected, by process.
    package var callers: [Caller] { clients.values.map(\.caller) }

    private func accept(_ channel: any Channel) {
        let server = LoopBound(self, loop: loop)
        Caller.of(channel) { caller in
            server.value.loop.arrive { server.value.accept(channel, caller) }
        }
    }

    private func accept(_ channel: any Channel, _ caller: Caller?) {
        guard let caller, case .success(let line) = SocketLine.attach(to: channel, loop: loop, atOnce: Self.readAtOnce)
        else {
            return channel.close(promise: nil)
        }
        let session = ClientSession(line, caller, server: self)
        let key = ObjectIdentifier(session)
        let ofUser = clients.values.count { $0.caller.user == caller.user }
        clients[key] = (session, caller)
        session.onEnd = { [weak self] in self?.clients[key] = nil }
        if clients.count > Self.maximumClients || !access.commands(caller.user) && ofUser >= Self.maximumClientsOfUser {
            session.end(
                ServiceError(.outOfSpace, reason: "the Bluetooth service has too many clients; end some of them")
            )
        }
    }

    /// Begins what an opening asks for.
    func open(_ opening: Opening, _ caller: Caller, _ line: SocketLine) -> Result<any Conversation, ServiceError> {
        if let refusal = access.refusal(of: caller.user) { return .failure(refusal) }
        switch opening {
        case .app(let hello):
            let identity = AppIdentity(name: hello.app.name, owner: caller.user)
            let declaration = hello.declaration
            let isInBackground = processes.isLaunchedInBackground(identity) && declaration.isManaged
            let app = system.makeApp(identity, declaring: declaration, inBackground: isInBackground)
            return .success(AppConversation(app, line, loop: loop))
        case .tool:
            return .failure(ServiceError(.operationNotSupported, reason: "this service answers no tools"))
        }
    }

    /// Tells of a process that is not let in, or no more.
    func refused(_ caller: Caller, _ error: ServiceError) {
        logger.notice("process \(caller.process) of user \(caller.user): \(error.reason ?? "ended")")
    }
}
