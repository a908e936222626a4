import BluetoothTypes
import CLinux
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceMessages
import TestBasics

@testable import BluetoothService
@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension TemporaryDirectory {
    /// The path of the socket of a service.
    var socket: String { file("service") }
}

/// A service without a controller that listens on a real socket.
struct SocketService {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let path: String
    let listener: LoopBound<ServiceListener>

    /// Starts a service on `socket`, which is bound to `path`. It sends no signals to processes.
    init(on socket: ListeningSocket, path: String, loop: NIOEventLoop = NIOEventLoop()) async throws {
        self.path = path
        listener = try await withCheckedThrowingContinuation { continuation in
            loop.submit {
                let system = BluetoothSystem(
                    controllers: ControllerSource { nil },
                    loop: loop,
                    random: RandomSource(),
                    logger: Self.silent
                )
                system.start()
                let clients = ServiceClients(
                    of: system,
                    socket: path,
                    loop: loop,
                    access: AccessRule(owner: getuid()),
                    table: ProcessTable(user: getuid()) { _ in
                        nil
                    } signal: { _, _ in
                    },
                    programs: KernelPrograms(loop: loop),
                    logger: Self.silent
                )
                let listener = LoopBound(ServiceListener(clients, loop: loop), loop: loop)
                listener.value.listen(on: socket.descriptor) { result in
                    continuation.resume(with: result.map { listener })
                }
            }
        }
    }

    /// Runs `body` with the system, on its loop.
    func with<Result: Sendable>(_ body: @escaping @Sendable (BluetoothSystem) -> Result) -> Result {
        listener.with { body($0.clients.system) }
    }

    /// Runs `body` with an app's first manager, on the loop.
    func withManager<Result: Sendable>(
        of app: AppIdentity,
        _ body: @escaping @Sendable (App, AppManager) -> Result
    ) -> Result? {
        with { system in
            guard let app = system.apps.running.first(where: { $0.identity == app }) else { return nil }
            return app.openManagers.first.map { body(app, $0.manager) }
        }
    }

    func close() { listener.with { $0.close() } }
}

/// The process of an app as one socket, which reads only when the test asks for the next message.
final class RawSocket {
    struct Failure: Error {
        let reason: String
    }

    private let descriptor: Int32
    private var parser = FrameParser()
    private var messages: ArraySlice<PacketBuffer> = []

    /// Connects. A read fails if nothing arrives within 20 s.
    init(path: String) throws {
        descriptor = socket(AF_UNIX, harald_SOCK_STREAM | harald_SOCK_CLOEXEC, 0)
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard var address = sockaddr_un(path: path) else { throw Failure(reason: "the path is too long") }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw Failure(reason: "cannot connect: \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ message: PacketBuffer) {
        let octets = FrameParser.frame(message).bytes
        _ = write(descriptor, octets, octets.count)
    }

    func send(_ message: AppMessage) { send(message.encoded()) }

    /// Reads the next message.
    func next() throws -> ServiceMessage { try ServiceMessage(reading: try nextMessage()) }

    /// Reads the octets of the next message.
    func nextMessage() throws -> PacketBuffer {
        while true {
            if let message = messages.popFirst() { return message }
            var octets = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &octets, octets.count)
            guard count > 0 else { throw Failure(reason: count == 0 ? "the service has closed" : "errno \(errno)") }
            messages = try parser.parse(PacketBuffer(Array(octets[..<count])))[...]
        }
    }

    /// Reads the next message, which must be an event.
    func nextEvent() throws -> Event {
        guard case .event(_, let event) = try next() else { throw Failure(reason: "no event") }
        return event
    }

    /// Opens the connection as an app with one central manager, and reads the welcome.
    func open(_ name: String, declaring declaration: AppDeclaration = .unmanaged) throws -> AppIdentity {
        try greet(name, declaring: declaration)
        send(.openManager(ManagerID(1), .central, ManagerOptions()))
        return AppIdentity(name: name, owner: getuid())
    }

    /// Opens the connection as an app, and reads the welcome.
    func greet(_ name: String, declaring declaration: AppDeclaration = .unmanaged) throws {
        send(Opening.app(Hello(AppIdentity(name: name), declaring: declaration)).encoded())
        guard case .welcome = try next() else { throw Failure(reason: "no welcome") }
    }

    /// Sends a query, and reads up to its reply.
    func isAnswered() throws -> Bool {
        send(.query(ManagerID(1), number: 7, .system))
        while true {
            if case .reply(let number, let result) = try next() { return number == 7 && (try? result.get()) != nil }
        }
    }
}
