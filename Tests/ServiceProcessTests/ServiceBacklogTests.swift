import CLinux
import EventLoops
import Foundation
import HCITransports
import TestBasics
import Testing

@testable import ServiceProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How many connections wait for a service that is busy.
@Suite(.timeLimit(.minutes(1))) struct ServiceBacklogTests {
    private let scratch = TemporaryDirectory.uncreated()

    @Test("AB-G05: 64 connections wait to be let in, beside the next one, and no more")
    func backlog() async throws {
        let loop = NIOEventLoop()
        let bound = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        let service = try await SocketService(on: bound, path: scratch.socket, loop: loop)
        let address = try #require(sockaddr_un(path: scratch.socket))
        // The loop accepts no connection meanwhile.
        let waiting = service.listener.with { _ in
            var address = address
            return (0..<100).map { _ in
                let kind = harald_SOCK_STREAM | harald_SOCK_CLOEXEC | harald_SOCK_NONBLOCK
                let descriptor = socket(AF_UNIX, kind, 0)
                let result = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                return (descriptor, isIn: result == 0)
            }
        }
        #expect(waiting.count { $0.isIn } == 65)
        for (descriptor, _) in waiting { close(descriptor) }
        service.close()
    }
}
