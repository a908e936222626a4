import BluetoothService
import BluetoothTypes
import CLinux
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceMessages
import Synchronization
import Testing

@testable import ServiceProcess
@testable import ServiceSocket

/// Sockets of the operating system.
@Suite struct ServiceListenerTests {
    private func firstState(_ connection: any ServiceConnection) async -> Event {
        await withCheckedContinuation { continuation in
            let isFirst = Atomic(true)
            _ = connection.openManager(.central, options: ManagerOptions(), queue: SerialQueue("app")) { event in
                if isFirst.exchange(false, ordering: .relaxed) { continuation.resume(returning: event) }
            }
        }
    }

    /// Whether this kernel hands out descriptors of processes that connect: Linux 6.5 and later.
    private static let kernelHoldsCallers: Bool = {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return false }
        defer { ends.forEach { close($0) } }
        var (descriptor, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(ends[0], SOL_SOCKET, CInt(harald_SO_PEERPIDFD), &descriptor, &size) == 0 else { return false }
        close(descriptor)
        return true
    }()

    @Test("AB-G05: whoever connects is known by the process itself", .enabled(if: kernelHoldsCallers))
    func whoConnectsIsKnownByItsProcess() async throws {
        let scratch = Scratch()
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        let listener = try await SocketService(on: socket, path: scratch.socket).listener
        let hello = Hello(AppIdentity(name: "app"))
        let connection = RemoteConnection(
            path: scratch.socket,
            hello: hello,
            loop: NIOEventLoop(),
            logger: SocketService.silent
        )
        _ = await firstState(connection)
        let callers = listener.with { $0.clients.callers }
        #expect(callers.map(\.process) == [getpid()] && callers.first?.user == getuid())
        #expect(callers.first?.descriptor?.isThere == true)
        listener.with { $0.close() }
        withExtendedLifetime((connection, listener)) {}
    }

    @Test func anAppIsServedOverASocket() async throws {
        let scratch = Scratch()
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        #expect(!ServicePath.isListening(scratch.socket))
        let listener = try await SocketService(on: socket, path: scratch.socket).listener
        #expect(ServicePath.isListening(scratch.socket))
        let hello = Hello(AppIdentity(name: "app"))
        let connection = RemoteConnection(
            path: scratch.socket,
            hello: hello,
            loop: NIOEventLoop(),
            logger: SocketService.silent
        )
        #expect(await firstState(connection) == .stateChanged(.unsupported))
        guard case .success(.system(let info)) = connection.ask(.system, from: .none) else {
            Issue.record("the service does not answer")
            return
        }
        #expect(info.permission == .allowedAlways)
        listener.with { $0.close() }
        withExtendedLifetime(listener) {}
    }

    @Test("a socket has its permissions from the beginning, and one service")
    func aSocketHasItsPermissions() throws {
        let scratch = Scratch()
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o660, group: getgid())
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.socket)
        #expect(attributes[.posixPermissions] as? Int == 0o660)
        let folder = try FileManager.default.attributesOfItem(atPath: scratch.path)
        #expect(folder[.posixPermissions] as? Int == 0o700)
        do {
            _ = try ListeningSocket(path: scratch.socket, mode: 0o660, group: nil)
            Issue.record("two services have one socket")
        } catch {
            #expect("\(error)".contains("another service") && "\(error)".contains("--socket"))
        }
        withExtendedLifetime(socket) {}
    }

    @Test("a socket that a dead service has left gives way, and a path that is too long is told")
    func aSocketThatWasLeftGivesWay() throws {
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: scratch.socket, contents: Data())
        #expect(!ServicePath.isListening(scratch.socket))
        #expect(throws: Never.self) { try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil) }
        let long = scratch.path + "/" + String(repeating: "x", count: 120)
        do {
            _ = try ListeningSocket(path: long, mode: 0o600, group: nil)
            Issue.record("a path of \(long.utf8.count) octets was bound")
        } catch {
            #expect("\(error)".contains("too long"))
        }
    }

    @Test func theUsualSocketIsBelowTheRuntimeDirectory() {
        #expect(ServicePath.ofUser(environment: ["XDG_RUNTIME_DIR": "/run/user/7"]) == "/run/user/7/harald/service")
        #expect(ServicePath.ofUser(environment: ["XDG_RUNTIME_DIR": "run"]) == nil)
        #expect(ServicePath.ofUser(environment: [:]) == nil)
    }
}
