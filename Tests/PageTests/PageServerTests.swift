import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOEmbedded
import ServiceProcess
import Testing

@testable import Page

/// The server against clients that are no browsers, before it knows who they are. Time is that of embedded channels.
@Suite struct PageServerTests {
    /// A server whose connections are embedded channels. On the loop.
    private final class Server {
        let hub: PageHub
        let connections: PageConnections
        let clock = EmbeddedEventLoop()
        let access: PageAccess
        private let entry: PageEntry

        init(_ loop: NIOEventLoop) {
            var random = SystemRandomNumberGenerator()
            access = PageAccess(port: 80, names: [], using: &random)
            hub = PageHub(ToolClient([], loop: loop), loop: loop, app: nil)
            connections = PageConnections(loop: loop)
            entry = PageEntry(hub, connections, loop: loop)
            entry.access = access
        }

        func connect() throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(loop: clock)
            try entry.enter(channel)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
            return channel
        }

        /// Returns a connection whose WebSocket is open, and its answers are dropped.
        func socket() throws -> EmbeddedChannel {
            let channel = try connect()
            try write(ByteBuffer(string: PageServerTests.handshake), to: channel)
            _ = PageServerTests.output(of: channel)
            return channel
        }

        func write(_ octets: ByteBuffer, to channel: EmbeddedChannel) throws {
            try channel.writeInbound(octets)
            clock.run()
        }

        var tokenFrame: ByteBuffer { PageServerTests.frame(0x81, Array(#"{"token":"\#(access.token)"}"#.utf8)) }
    }

    private static let get = "GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"
    private static let handshake = """
        GET /socket HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n
        """

    private let loop = NIOEventLoop()
    private let server: LoopBound<Server>

    init() {
        let loop = loop
        server = loop.make { Server(loop) }
    }

    /// Runs the body on the loop, and returns its result.
    private func run<Value: Sendable>(_ body: @escaping @Sendable (Server) throws -> Value) throws -> Value {
        try server.with { server in Result { try body(server) } }.get()
    }

    private static func output(of channel: EmbeddedChannel) -> [UInt8] {
        var octets: [UInt8] = []
        while let buffer = try? channel.readOutbound(as: ByteBuffer.self) { octets += buffer.readableBytesView }
        return octets
    }

    private static func text(of channel: EmbeddedChannel) -> String {
        String(decoding: output(of: channel), as: UTF8.self)
    }

    /// A frame of a client, masked with zeros unless told otherwise.
    private static func frame(_ first: UInt8, _ octets: [UInt8], isMasked: Bool = true) -> ByteBuffer {
        let length: [UInt8] =
            octets.count < 126 ? [UInt8(octets.count)] : [126, UInt8(octets.count >> 8), UInt8(octets.count & 0xFF)]
        let masked = [length[0] | (isMasked ? 0x80 : 0)] + length.dropFirst()
        return ByteBuffer(bytes: [first] + masked + (isMasked ? [0, 0, 0, 0] : []) + octets)
    }

    /// Sends the octets in parts, as long as the connection is open. Returns the number that it took.
    private static func send(_ octets: [UInt8], to channel: EmbeddedChannel, part: Int) -> Int {
        var sent = 0
        while channel.isActive, sent < octets.count {
            let end = min(octets.count, sent + part)
            // An error of the decoder closes the connection.
            _ = try? channel.writeInbound(ByteBuffer(bytes: octets[sent..<end]))
            sent = end
        }
        return sent
    }

    @Test("AB-P01: of the requests of a connection, only the first is answered, and the connection closes")
    func pipelining() throws {
        for target in ["/page.js", "/nothing", "/packets/0", "/socket"] {
            let request = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"
            let (text, isOpen) = try run { server in
                let channel = try server.connect()
                _ = Self.send(Array(String(repeating: request, count: 1_000).utf8), to: channel, part: 4_096)
                return (Self.text(of: channel), channel.isActive)
            }
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2)
            #expect(text.contains("connection: close") || text.contains("Connection: close"))
            #expect(!isOpen)
        }
    }

    @Test(
        "AB-P02: a request ends at 8 KiB and at 32 fields, whatever it is made of",
        arguments: [
            "GET /" + String(repeating: "x", count: 60_000), get + "a: " + String(repeating: "x", count: 60_000),
            get + String(repeating: "x", count: 60_000), get + String(repeating: "a: b\r\n", count: 10_000),
            get + String(repeating: "a:\r\n", count: 10_000),
        ]
    )
    func endlessHeads(_ head: String) throws {
        for part in [1, 100, 65_536] {
            let (sent, isOpen) = try run { server in
                let channel = try server.connect()
                return (Self.send(Array(head.utf8), to: channel, part: part), channel.isActive)
            }
            #expect(!isOpen)
            #expect(sent <= (8 << 10) + 64 + part)
        }
    }

    @Test("a head as browsers send it is answered in whole, however it is cut")
    func cutHeads() throws {
        let head = Array((Self.get + String(repeating: "field: value\r\n", count: 30) + "\r\n").utf8)
        for part in 1...head.count {
            let text = try run { server in
                let channel = try server.connect()
                _ = Self.send(head, to: channel, part: part)
                return Self.text(of: channel)
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK"), "parts of \(part)")
        }
    }

    @Test("AB-P03: a request that goes on octet by octet ends after five seconds, as one without an octet")
    func slowSenders() throws {
        for octets in [0, 1_000] {
            let milliseconds: Int64 = try run { server in
                let channel = try server.connect()
                var now: Int64 = 0
                let head = Array(Self.get.utf8) + [UInt8](repeating: 0x78, count: octets)
                while channel.isActive, now < 60_000 {
                    if octets > 0 { try channel.writeInbound(ByteBuffer(bytes: [head[Int(now / 10) % head.count]])) }
                    server.clock.advanceTime(by: .milliseconds(10))
                    now += 10
                }
                return now
            }
            #expect(milliseconds == 5_000)
        }
    }

    @Test("AB-P03: strangers of each kind push out each other, never the owner of the page")
    func strangers() throws {
        let (isOwnerOpen, open, answer) = try run { server in
            let owner = try server.socket()
            try server.write(server.tokenFrame, to: owner)
            var crowd: [EmbeddedChannel] = []
            for number in 0..<3 * PageConnections.maximumStrangers {
                crowd.append(try number % 3 == 0 ? server.socket() : server.connect())
                if number % 3 == 1 { try crowd.last?.writeInbound(ByteBuffer(string: Self.get)) }
            }
            let open = crowd.filter(\.isActive).count
            let late = try server.connect()
            try late.writeInbound(ByteBuffer(string: Self.get + "\r\n"))
            return (owner.isActive, open, Self.text(of: late))
        }
        #expect(isOwnerOpen)
        #expect(open == PageConnections.maximumStrangers)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("AB-P04: a WebSocket receives nothing before the token, and is closed without it, and with another one")
    func tokens() throws {
        let hostile: [[UInt8]] = [
            Array("{}".utf8), Array(#"{"verb":"packets","on":true}"#.utf8), Array(#"{"token":"0123"}"#.utf8), [],
            [0xFF],
        ]
        for text in hostile {
            let (octets, isOpen) = try run { server in
                let channel = try server.socket()
                try server.write(Self.frame(0x81, text), to: channel)
                return (Self.output(of: channel), channel.isActive)
            }
            #expect(octets == [0x88, 2, 0x0F, 0xA1])
            #expect(!isOpen)
        }
        let (octets, isOpen) = try run { server in
            let channel = try server.socket()
            server.hub.send(PageValue(name: "secret", json: "1", isReplaced: false))
            server.clock.advanceTime(by: PageConnections.requestTimeout)
            return (Self.output(of: channel), channel.isActive)
        }
        #expect(octets == [])
        #expect(!isOpen)
    }

    @Test("a WebSocket with the token stays open, however handshake and token are cut")
    func owner() throws {
        let length = try run { server in Self.handshake.utf8.count + server.tokenFrame.readableBytes }
        for part in 1...length {
            let (text, isOpen) = try run { server in
                let channel = try server.connect()
                let octets = Array(Self.handshake.utf8) + server.tokenFrame.readableBytesView
                _ = Self.send(octets, to: channel, part: part)
                server.clock.advanceTime(by: PageConnections.requestTimeout * 2)
                defer { channel.close(promise: nil) }
                return (Self.text(of: channel), channel.isActive)
            }
            #expect(text.hasPrefix("HTTP/1.1 101"), "parts of \(part)")
            #expect(text.contains(#"{"type":"open","value":null}"#), "parts of \(part)")
            #expect(isOpen, "parts of \(part)")
        }
    }

    @Test("AB-P05: frames without a mask are refused, before the token and after it")
    func unmasked() throws {
        for hasToken in [false, true] {
            for opcode: UInt8 in [0x80, 0x81, 0x82, 0x89, 0x8A] {
                let (octets, isOpen) = try run { server in
                    let channel = try server.socket()
                    if hasToken { try server.write(server.tokenFrame, to: channel) }
                    _ = Self.output(of: channel)
                    try server.write(Self.frame(opcode, Array("{}".utf8), isMasked: false), to: channel)
                    return (Self.output(of: channel), channel.isActive)
                }
                #expect(octets.suffix(4) == [0x88, 2, 0x03, 0xEA], "opcode \(opcode)")
                #expect(!isOpen)
            }
        }
    }

    @Test("AB-P01: pings and fragments of a stranger take no memory")
    func floods() throws {
        let (isOpen, isFragmentOpen) = try run { server in
            let channel = try server.socket()
            for _ in 0..<1_000 { try server.write(Self.frame(0x89, [UInt8](repeating: 1, count: 125)), to: channel) }
            let fragments = try server.socket()
            try server.write(Self.frame(0x01, Array("x".utf8)), to: fragments)
            for _ in 0..<100 where fragments.isActive {
                try server.write(Self.frame(0x00, [UInt8](repeating: 0x78, count: 100)), to: fragments)
            }
            return (channel.isActive, fragments.isActive)
        }
        #expect(isOpen)
        #expect(!isFragmentOpen)
    }

    @Test("AB-P04: a file of packets is served once, to a request with its ticket")
    func downloads() throws {
        let texts = try run { server in
            let page = Outlet()
            #expect(server.hub.add(page))
            server.hub.handle(Array(#"{"verb":"select","packets":[1,2]}"#.utf8), from: page)
            server.hub.handle(Array(#"{"verb":"save","format":"btsnoop"}"#.utf8), from: page)
            let frame = try #require(page.frames.last { $0.text.contains("ticket") })
            let path = try JSONDecoder().decode(Ticket.self, from: Data(frame.text.utf8)).value
            return try (0..<2).map { _ in
                let channel = try server.connect()
                try channel.writeInbound(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"))
                return Self.text(of: channel)
            }
        }
        #expect(texts[0].hasPrefix("HTTP/1.1 200 OK"))
        #expect(texts[0].contains("harald.btsnoop"))
        #expect(texts[0].contains("btsnoop\0"))
        #expect(texts[1].hasPrefix("HTTP/1.1 410"))
    }

    private struct Ticket: Decodable { let value: String }

    private final class Outlet: PageOutlet {
        private(set) var frames: [PageFrame] = []
        func show(_ frame: PageFrame) { frames.append(frame) }
    }
}
