import CLinux
import EventLoops
import Foundation
import HCITransports
import Logging
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Real sockets of the operating system.
@Suite struct ServiceListenerTests {
    private func firstState(_ connection: any ServiceConnection) async -> Event {
        await withCheckedContinuation { continuation in
            let isFirst = Atomic(true)
            _ = connection.openManager(.central, options: ManagerOptions(), queue: SerialQueue("app")) { event in
                if isFirst.exchange(false, ordering: .relaxed) { continuation.resume(returning: event) }
            }
        }
    }

    /// Whether this kernel provides descriptors of connecting processes: Linux 6.5 and later.
    private static let kernelHoldsCallers: Bool = {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, harald_SOCK_STREAM, 0, &ends) == 0 else { return false }
        defer { ends.forEach { close($0) } }
        var (descriptor, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(ends[0], SOL_SOCKET, CInt(harald_SO_PEERPIDFD), &descriptor, &size) == 0 else { return false }
        close(descriptor)
        return true
    }()

    @Test("AB-G05: each connection is identified by the process itself", .enabled(if: kernelHoldsCallers))
    func connectionsAreIdentifiedByTheirProcess() async throws {
        let scratch = TemporaryDirectory.uncreated()
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
        #expect(callers.map(\.process) == [getpid()])
        #expect(callers.first?.user == getuid())
        #expect(callers.first?.descriptor?.isRunning == true)
        listener.with { $0.close() }
        withExtendedLifetime((connection, listener)) {}
    }

    @Test func anAppIsServedOverASocket() async throws {
        let scratch = TemporaryDirectory.uncreated()
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
            return recordIssue("the service does not answer")
        }
        #expect(info.permission == .allowedAlways)
        listener.with { $0.close() }
        withExtendedLifetime(listener) {}
    }

    @Test("a socket has its permissions from the start, and belongs to one service")
    func aSocketHasItsPermissions() throws {
        let scratch = TemporaryDirectory.uncreated()
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

    /// A socket of the given kind that is bound to a path.
    private func bound(_ kind: Int32, _ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, kind | harald_SOCK_CLOEXEC, 0)
        var address = try #require(sockaddr_un(path: path))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    private func refusal(_ path: String) -> String? {
        do {
            _ = try ListeningSocket(path: path, mode: 0o600, group: nil)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func hasFile(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    @Test("AB-G05: a service replaces only a socket of this user that no program listens on")
    func onlyAbandonedSocketsAreReplaced() throws {
        let scratch = TemporaryDirectory.uncreated()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        let path = scratch.socket
        #expect(FileManager.default.createFile(atPath: path, contents: Data([1])))
        #expect(refusal(path)?.contains("is not a socket") == true)
        #expect(hasFile(path))
        unlink(path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "elsewhere")
        #expect(refusal(path)?.contains("is not a socket") == true)
        #expect(hasFile(path))
        unlink(path)
        // Sockets of another program without a lock: it listens, has a full backlog, or uses datagrams.
        let stream = try bound(harald_SOCK_STREAM, path)
        #expect(listen(stream, 0) == 0)
        for _ in 0..<3 {
            #expect(ServicePath.isListening(path))
            #expect(refusal(path)?.contains("another program is listening") == true)
            #expect(hasFile(path))
        }
        close(stream)
        unlink(path)
        let datagrams = try bound(harald_SOCK_DGRAM, path)
        #expect(refusal(path)?.contains("another program is listening") == true)
        #expect(hasFile(path))
        close(datagrams)
        unlink(path)
        if getuid() == 0 {
            close(try bound(harald_SOCK_STREAM, path))
            #expect(chown(path, 12_345, 0) == 0)
            #expect(refusal(path)?.contains("user 12345") == true)
            #expect(hasFile(path))
            unlink(path)
        }
        // The file of a dead service.
        close(try bound(harald_SOCK_STREAM, path))
        #expect(hasFile(path))
        #expect(!ServicePath.isListening(path))
        #expect(refusal(path) == nil)
    }

    @Test("AB-G05: a service does not listen in a directory where others can rename files")
    func directoriesOfOthers() throws {
        let scratch = TemporaryDirectory.uncreated()
        try FileManager.default.createDirectory(atPath: scratch.path + "/a/b", withIntermediateDirectories: true)
        #expect(refusal(scratch.path + "/a/b/service") == nil)
        #expect(chmod(scratch.path + "/a", 0o777) == 0)
        let text = refusal(scratch.path + "/a/b/other")
        #expect(
            text?.contains("other users can write to \(scratch.path)/a, which has mode 777") == true,
            "\(text ?? "")"
        )
        #expect(text?.contains("--socket") == true)
        #expect(!hasFile(scratch.path + "/a/b/other.lock"))
    }

    @Test func aPathThatIsTooLongIsTold() throws {
        let scratch = TemporaryDirectory.uncreated()
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
