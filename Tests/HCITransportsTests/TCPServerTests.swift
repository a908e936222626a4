import Dispatch
import EventLoops
import Foundation
import HCI
import HCITransports
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The limits of a listener for hosts, with real sockets.
@Suite struct TCPServerTests {
    private final class Server: Sendable {
        let loop = NIOEventLoop()
        let accepted = Atomic(0)
        let refused = Atomic(0)
        private let found = Mutex<LoopBound<TCPServer>?>(nil)
        private let transports = Mutex<[LoopBound<H4Transport>]>([])

        /// Listens, and returns the port.
        func listen() throws -> Int {
            let isOpen = DispatchSemaphore(value: 0)
            loop.submit {
                TCPServer.listen(
                    port: 0,
                    loop: self.loop,
                    onConnection: { transport in
                        self.transports.withLock { $0.append(LoopBound(transport, loop: self.loop)) }
                        self.accepted.add(1, ordering: .relaxed)
                    },
                    onRefusal: { self.refused.add(1, ordering: .relaxed) }
                ) { result in
                    if case .success(let server) = result {
                        self.found.withLock { $0 = LoopBound(server, loop: self.loop) }
                    }
                    isOpen.signal()
                }
            }
            isOpen.wait()
            let server = try #require(found.withLock { $0 })
            return loop.waitFor { server.value.port }
        }
    }

    private static func connection(to port: Int) throws -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafeBytes(of: &address) { octets in
            octets.withMemoryRebound(to: sockaddr.self) { connect(file, $0.baseAddress, socklen_t(octets.count)) }
        }
        try #require(status == 0)
        return file
    }

    /// Sends Reset twice, and returns what comes back until the end or the expected length.
    private static func reset(_ file: Int32, expecting count: Int) -> [UInt8] {
        var received: [UInt8] = []
        for _ in 0..<2 {
            let command: [UInt8] = [1, 0x03, 0x0C, 0]
            guard send(file, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else { break }
        }
        while received.count < count {
            var octets = [UInt8](repeating: 0, count: 64)
            let read = recv(file, &octets, octets.count, 0)
            guard read > 0 else { break }
            received += octets.prefix(read)
        }
        return received
    }

    // The error that says so in HCI (Core Vol 1 Part F 2.13).
    @Test("a host beyond the connections of a listener gets an error for each command, and further ones are closed")
    func aHostTooMany() throws {
        let server = Server()
        let port = try server.listen()
        var files = try (0..<TCPServer.maximumConnections).map { _ in try Self.connection(to: port) }
        defer {
            for file in files { close(file) }
            server.loop.shutDown()
        }
        while server.accepted.load(ordering: .relaxed) < TCPServer.maximumConnections { usleep(1_000) }
        let answer: [UInt8] = [4, 0x0E, 4, 1, 0x03, 0x0C, HCIStatus.rejectedForLimitedResources.rawValue]
        for _ in 0..<TCPServer.maximumRefusals {
            let file = try Self.connection(to: port)
            files.append(file)
            #expect(Self.reset(file, expecting: 2 * answer.count) == answer + answer)
        }
        let file = try Self.connection(to: port)
        files.append(file)
        #expect(Self.reset(file, expecting: 1) == [])
        #expect(server.refused.load(ordering: .relaxed) == TCPServer.maximumRefusals + 1)
        #expect(server.accepted.load(ordering: .relaxed) == TCPServer.maximumConnections)
    }
}
