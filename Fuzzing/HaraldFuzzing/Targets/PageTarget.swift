import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOEmbedded
import ServiceProcess

@testable import Page

extension FuzzTarget {
    /// The octets of a client without the token: HTTP, then a WebSocket, in the parts that the input asks for.
    static let page = FuzzTarget("page", maximumLength: 4_096, seeds: pageSeeds) { input in
        PageStage.loop.submitAndWait { PageStage().run(input) }
    }

    private static var pageSeeds: [[UInt8]] {
        let address = "HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"
        let handshake = """
            GET /socket \(address)Origin: http://127.0.0.1:80\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n
            """
        let token = Array(#"{"token":"0123456789abcdef0123456789abcdef"}"#.utf8)
        let frame = [0x81, 0x80 | UInt8(token.count), 0, 0, 0, 0] + token
        let texts = ["GET / \(address)\r\n", "HEAD /page.js \(address)\r\n\r\n", "GET /packets/0 \(address)\r\n"]
        let socket = Array(handshake.utf8) + frame + [0x89, 0x80, 0, 0, 0, 0]
        return (texts.map { Array($0.utf8) } + [socket]).map { whole in
            stride(from: 0, to: whole.count, by: 200).flatMap { counted(Array(whole[$0..<min($0 + 200, whole.count)])) }
        }
    }
}

/// The connection of a stranger. On the loop.
private struct PageStage {
    static let loop = NIOEventLoop()

    func run(_ input: FuzzInput) {
        var (input, random) = (input, SystemRandomNumberGenerator())
        let loop = Self.loop
        let hub = PageHub(ToolClient([], loop: loop), loop: loop, app: nil)
        let entry = PageEntry(hub, PageConnections(loop: loop), loop: loop)
        entry.access = PageAccess(port: 80, names: [], using: &random)
        let clock = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: clock)
        guard (try? entry.enter(channel)) != nil else { return }
        channel.connect(to: try? SocketAddress(ipAddress: "127.0.0.1", port: 80))
        while !input.isAtEnd, channel.isActive {
            // An error of a decoder closes the connection.
            _ = try? channel.writeInbound(ByteBuffer(bytes: input.counted()))
            clock.run()
        }
        hub.send(PageValue(name: "secret", json: "1", isReplaced: false))
        clock.advanceTime(by: PageConnections.downloadTimeout)
        hold(!channel.isActive, "a stranger stays")
        var output: [UInt8] = []
        while let buffer = try? channel.readOutbound(as: ByteBuffer.self) { output += buffer.readableBytesView }
        let text = String(decoding: output, as: UTF8.self)
        hold(!text.contains("secret") && !text.contains("\"type\":\"open\""), "a stranger learns a value")
        hold(text.components(separatedBy: "HTTP/1.1 ").count <= 2, "two answers")
    }
}

extension EmbeddedChannel {
    fileprivate func connect(to address: SocketAddress?) {
        guard let address else { return }
        connect(to: address).whenFailure { _ in }
    }
}
