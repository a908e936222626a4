import CLinux
import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOPosix
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

/// A socket of the operating system before anybody is let in.
@Suite(.timeLimit(.minutes(1))) struct ListeningSocketTests {
    private let scratch = TemporaryDirectory.uncreated()

    private func refusal(_ path: String, mode: UInt32 = 0o600, group: UInt32? = nil) -> String? {
        do throws(ListeningSocket.Failure) {
            _ = try ListeningSocket(path: path, mode: mode, group: group)
            return nil
        } catch {
            return error.description
        }
    }

    private func status(_ path: String) -> stat {
        var status = stat()
        #expect(lstat(path, &status) == 0)
        return status
    }

    @Test(
        "AB-G05: a path of any length has a directory",
        arguments: [("-", "."), ("a", "."), ("./a", "."), ("/a", "/"), ("a/b", "a"), ("/a/b/c", "/a/b")]
    )
    func directoryOfAPath(path: String, directory: String) {
        #expect(ListeningSocket.directory(of: path) == directory)
    }

    @Test("AB-G05: directory, lock and socket have their permissions and their group from the beginning")
    func permissions() throws {
        let group: UInt32 = getuid() == 0 ? 12_345 : getgid()
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o666, group: group)
        #expect(status(scratch.path).st_mode & 0o7777 == 0o700)
        #expect(status(scratch.socket + ".lock").st_mode & 0o7777 == 0o600)
        let made = status(scratch.socket)
        #expect(made.st_mode & 0o7777 == 0o666)
        #expect(made.st_gid == group)
        #expect(made.st_uid == geteuid())
        withExtendedLifetime(socket) {}
    }

    @Test("a service that is refused leaves no descriptor of the lock behind, and the lock stays with the first one")
    func theLock() throws {
        let first = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        for _ in 0..<3 { #expect(refusal(scratch.socket)?.contains("another service is using") == true) }
        #expect(try OpenDescriptors.count(of: scratch.socket + ".lock") == 1)
        withExtendedLifetime(first) {}
        // Where it fails behind the lock, the lock is free for the next attempt.
        let other = scratch.path + "/other"
        try Data().write(to: URL(fileURLWithPath: other))
        #expect(refusal(other)?.contains("is not a socket") == true)
        #expect(try OpenDescriptors.count(of: other + ".lock") == 0)
        #expect(unlink(other) == 0)
        #expect(refusal(other) == nil)
    }

    @Test("a descriptor of a file is counted, however high its number")
    func descriptorsOfAFile() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "file")
        let low = open(directory.file("file"), O_RDONLY | O_CLOEXEC)
        defer { close(low) }
        #expect(try OpenDescriptors.count(of: directory.file("file")) == 1)
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let high = fcntl(low, F_DUPFD_CLOEXEC, Int32(min(limit.rlim_cur, 2_000)) - 1)
        try #require(high >= 0)
        defer { close(high) }
        #expect(try OpenDescriptors.count(of: directory.file("file")) == 2)
        #expect(try OpenDescriptors.count(of: directory.file("nothing")) == 0)
    }

    @Test("a path at which no socket can be is refused with what is in the way")
    func obstructedPathsAreRefused() throws {
        #expect(refusal(scratch.path + "/a/b/service")?.contains("b/service: No such file") == true)
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: scratch.path + "/file"))
        #expect(chmod(scratch.path + "/file", 0o600) == 0)
        #expect(refusal(scratch.path + "/file/service")?.contains("service.lock: Not a dir") == true)
        // A lock that leads elsewhere is not followed.
        try FileManager.default.createSymbolicLink(atPath: scratch.socket + ".lock", withDestinationPath: "file")
        #expect(refusal(scratch.socket)?.contains("cannot open") == true)
        #expect(refusal("") == " is too long for a socket; choose a shorter path with --socket")
    }

    @Test("a path may have 107 octets, and none that is zero")
    func lengthsOfPaths() {
        #expect(sockaddr_un(path: String(repeating: "a", count: 107)) != nil)
        #expect(sockaddr_un(path: String(repeating: "a", count: 108)) == nil)
        #expect(sockaddr_un(path: "") == nil)
        #expect(sockaddr_un(path: "/a\0b") == nil)
        #expect(sockaddr_un(path: "/a")?.sun_family == sa_family_t(AF_UNIX))
    }

    @Test("a tool looks at the named socket, else at that of the environment, else at the user's and the machine's")
    func places() {
        let environment = ["HARALD_SERVICE": "/b", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(ServicePath.places(named: "/a", environment: environment) == ["/a"])
        #expect(ServicePath.places(named: nil, environment: environment) == ["/b"])
        let usual = ["/run/user/7/harald/service", "/run/harald/service"]
        for name in ["", nil] {
            var environment = environment
            environment["HARALD_SERVICE"] = name
            #expect(ServicePath.places(named: nil, environment: environment) == usual)
        }
        #expect(ServicePath.places(named: nil, environment: [:]) == ["/run/harald/service"])
    }

    @Test("a path without a socket is neither listened at nor abandoned, and a socket that nobody has is abandoned")
    func abandonedSocketsAreRecognized() throws {
        #expect(!ServicePath.isListening(scratch.socket))
        #expect(!ServicePath.isAbandoned(scratch.socket))
        let long = String(repeating: "a", count: 200)
        #expect(!ServicePath.isListening(long))
        #expect(!ServicePath.isAbandoned(long))
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        #expect(!ServicePath.isListening(scratch.socket))
        #expect(ServicePath.isAbandoned(scratch.socket))
        #expect(listen(socket.descriptor, 1) == 0)
        #expect(ServicePath.isListening(scratch.socket))
        #expect(!ServicePath.isAbandoned(scratch.socket))
    }

    @Test("the end of a service ends its conversations, and its socket takes nobody any more")
    func theEndOfAService() async throws {
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        let service = try await SocketService(on: socket, path: scratch.socket)
        let client = try RawSocket(path: scratch.socket)
        try client.greet("app")
        service.close()
        let last = try client.next()
        guard case .goodbye(let error) = last else { return recordIssue("\(last)") }
        #expect(error.reason == "the Bluetooth service is shutting down")
        #expect(throws: RawSocket.Failure.self) { try client.next() }
        service.listener.loop.submitAndWait {}
        #expect(!ServicePath.isListening(scratch.socket))
    }

    @Test("AB-G05: a socket without a peer is nobody's, and one with a peer is that process's")
    func callers() async throws {
        let loop = NIOEventLoop()
        func caller(of descriptor: Int32) async -> Caller? {
            await withCheckedContinuation { continuation in
                let isFirst = Atomic(true)
                _ = ClientBootstrap(group: loop.nio).channelOption(.autoRead, value: false)
                    .channelInitializer { channel in
                        Caller.of(channel) { caller in
                            if isFirst.exchange(false, ordering: .relaxed) { continuation.resume(returning: caller) }
                        }
                        // The channel is closed unused: swift-nio does not read a socket without a peer.
                        return channel.eventLoop.makeFailedFuture(RawSocket.Failure(reason: "not used"))
                    }
                    .withConnectedSocket(descriptor)
            }
        }
        let type = harald_SOCK_STREAM | harald_SOCK_CLOEXEC
        #expect(await caller(of: socket(AF_UNIX, type, 0)) == nil)
        let pair = try #require(RawEnd.pair())
        let found = await caller(of: pair.near)
        #expect(found?.process == getpid())
        #expect(found?.user == geteuid())
        #expect(found?.group == getegid())
        withExtendedLifetime(pair) {}
    }

    @Test("a descriptor that is no socket is refused with what the system says")
    func noSocket() async throws {
        let file = open("/dev/null", O_RDWR | O_CLOEXEC)
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        let service = try await SocketService(on: socket, path: scratch.socket)
        let listener = service.listener
        let error: MessageLineError? = await withCheckedContinuation { continuation in
            listener.loop.submit {
                listener.value.listen(on: file) { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: error)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        #expect(error == .failed(reason: "Socket operation on non-socket"))
        service.close()
    }

    @Test("where nobody listens a dialer says at which path, and why")
    func aDialerWithoutAService() async throws {
        let (loop, path) = (NIOEventLoop(), scratch.socket)
        let error: MessageLineError? = await withCheckedContinuation { continuation in
            loop.submit {
                SocketDialer(path: path, loop: loop).dial { result in
                    if case .failure(let error) = result {
                        continuation.resume(returning: error)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        #expect(error == .unreachable(path: path, reason: "No such file or directory"))
    }
}
