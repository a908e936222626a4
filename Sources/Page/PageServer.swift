import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import ServiceProcess

/// Serves the page of a Bluetooth system to browsers on this machine.
///
/// Used on its loop.
package final class PageServer {
    /// The reason why there is no page.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        /// The address cannot be listened at.
        case cannotListen(host: String, port: Int, reason: String)

        /// The problem, and a remedy.
        package var description: String {
            switch self {
            case .cannotListen(let host, let port, let reason):
                "cannot listen at \(host):\(port): \(reason)"
            }
        }
    }

    /// The maximum number of TCP connections at once. Browsers use up to six for one page.
    package static let maximumConnections = 256
    /// How long a connection may be silent outside of a WebSocket.
    static let patience = TimeAmount.seconds(30)

    private let hub: PageHub
    private let loop: NIOEventLoop
    private let connections = PageConnections()
    private var channel: (any Channel)?

    /// Creates the server of a page over a conversation that is open.
    ///
    /// - Parameter devices: The program that uses devices for the page, with its arguments: see ``PageDevices``.
    package init(_ client: ToolClient, loop: NIOEventLoop, devices: [String]) {
        self.loop = loop
        hub = PageHub(client, loop: loop, app: PageApp(devices, loop: loop))
    }

    /// Creates the server of a page that shows a simulated world, and the system of one of its devices.
    ///
    /// - Parameter client: An open conversation with the system. ``use(_:)`` replaces it.
    package init(_ client: ToolClient, of world: any PageWorld, loop: NIOEventLoop) {
        self.loop = loop
        hub = PageHub(client, loop: loop, app: nil, world: world)
    }

    /// Goes on with another conversation, because the system of the last one is gone.
    package func use(_ client: ToolClient) { hub.use(client) }

    /// Sends a value of the world to all pages.
    package func tell(_ value: PageValue) { hub.tell(value) }

    /// Listens for browsers.
    ///
    /// - Parameters:
    ///   - host: The address of the interface to listen at. Only a loopback address keeps other machines out.
    ///   - port: The TCP port; 0 for any.
    ///   - completion: Receives the address to open, which includes the token.
    package func listen(at host: String, port: Int, completion: @escaping (Result<String, Failure>) -> Void) {
        let entry = LoopBound(PageEntry(hub, connections, loop: loop), loop: loop)
        let completion = LoopBound(completion, loop: loop)
        let owner = LoopBound(self, loop: loop)
        let loop = loop
        ServerBootstrap(group: loop.nio)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: PageSocket.kernelBuffer)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try entry.value.enter(channel) }
            }
            .bind(host: host, port: port)
            .whenComplete { result in
                let owner = owner.value
                switch result {
                case .success(let channel):
                    let port = channel.localAddress?.port ?? port
                    var random = SystemRandomNumberGenerator()
                    let access = PageAccess(port: port, names: [Self.written(host)], using: &random)
                    entry.value.access = access
                    owner.channel = channel
                    let shown = Self.isAny(host) ? "127.0.0.1" : Self.written(host)
                    loop.arrive { completion.value(.success("http://\(shown):\(port)/?token=\(access.token)")) }
                case .failure(let error):
                    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
                    loop.arrive {
                        completion.value(.failure(.cannotListen(host: host, port: port, reason: reason)))
                    }
                }
            }
    }

    /// Closes the page in all browsers.
    package func close() {
        channel?.close(promise: nil)
        channel = nil
        connections.closeAll()
    }

    private static func written(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
    private static func isAny(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }
}

/// The open TCP connections. On the loop only.
final class PageConnections {
    private var channels: [ObjectIdentifier: any Channel] = [:]

    /// Adds a connection until it closes. Returns false if there are too many.
    func add(_ channel: any Channel, loop: NIOEventLoop) -> Bool {
        guard channels.count < PageServer.maximumConnections else { return false }
        channels[ObjectIdentifier(channel)] = channel
        let connections = LoopBound(self, loop: loop)
        channel.closeFuture.whenComplete { _ in connections.value.channels[ObjectIdentifier(channel)] = nil }
        return true
    }

    func closeAll() {
        for channel in channels.values { channel.close(promise: nil) }
    }
}

/// Sets up the connection of a browser. On the loop only.
final class PageEntry {
    /// Set as soon as the port is known, which is before any connection.
    var access: PageAccess?
    private let hub: PageHub
    private let connections: PageConnections
    private let loop: NIOEventLoop

    init(_ hub: PageHub, _ connections: PageConnections, loop: NIOEventLoop) {
        (self.hub, self.connections, self.loop) = (hub, connections, loop)
    }

    func enter(_ channel: any Channel) throws {
        guard let access, connections.add(channel, loop: loop) else { throw ChannelError.connectTimeout(.zero) }
        let mark = ChannelOptions.Types.WriteBufferWaterMark(
            low: PageSocket.lowWaterMark,
            high: PageSocket.highWaterMark
        )
        try channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
        let bound = LoopBound(hub, loop: loop)
        let loop = loop
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: PageMessage.maximumLength,
            shouldUpgrade: { channel, head in
                let mayOpen = access.verdict(on: PageAccess.Request(head)) == .open
                return channel.eventLoop.makeSucceededFuture(mayOpen ? HTTPHeaders() : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.removeIdleHandler()
                    try channel.pipeline.syncOperations.addHandler(PageSocket(bound.value, loop: loop))
                }
            }
        )
        try channel.pipeline.syncOperations.addHandler(
            IdleStateHandler(allTimeout: PageServer.patience),
            name: ChannelPipeline.SynchronousOperations.idleName
        )
        let responder = PageResponder(access) { bound.value.capture($0, query: $1) }
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { [responder = NIOLoopBound(responder, eventLoop: channel.eventLoop)] context in
                    context.pipeline.syncOperations.removeHandler(responder.value, promise: nil)
                }
            )
        )
        try channel.pipeline.syncOperations.addHandler(responder)
    }
}

extension ChannelPipeline.SynchronousOperations {
    fileprivate static let idleName = "idle"

    /// A WebSocket has its own pings.
    fileprivate func removeIdleHandler() throws {
        let idle = try context(name: Self.idleName)
        removeHandler(context: idle, promise: nil)
    }
}

extension PageAccess.Request {
    init(_ head: HTTPRequestHead) {
        self.init(
            method: head.method.rawValue,
            target: head.uri,
            host: head.headers.single("Host"),
            origin: head.headers.single("Origin"),
            cookie: head.headers["Cookie"].joined(separator: ";"),
            isUpgrade: head.headers[canonicalForm: "Upgrade"].contains { $0.lowercased() == "websocket" }
        )
    }
}

extension HTTPHeaders {
    /// The value of a field that occurs once.
    fileprivate func single(_ name: String) -> String? {
        let values = self[name]
        // Two hosts or origins are a trick; neither is trusted.
        return values.count > 1 ? "" : values.first
    }
}

/// Answers the requests of a browser for files.
final class PageResponder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let access: PageAccess
    private let capture: (PagePackets.Format, String) -> [UInt8]
    private var head: HTTPRequestHead?

    /// - Parameter capture: Returns the packets that a query selects, as a file.
    init(_ access: PageAccess, capture: @escaping (PagePackets.Format, String) -> [UInt8]) {
        (self.access, self.capture) = (access, capture)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // The page sends none.
        case .body: break
        case .end:
            if let head { answer(head, context) }
            head = nil
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A refused WebSocket is answered like any other request.
        if error is NIOWebSocketUpgradeError { return }
        context.close(promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch access.verdict(on: PageAccess.Request(head)) {
        case .exchange(let cookie):
            respond(303, [("Set-Cookie", cookie), ("Location", "/")], "text/plain", [], to: head, context)
        case .serve(let path):
            guard let file = PageFiles.file(at: path) else { return refuse(.unknownPath, head, context) }
            respond(200, [], file.type, file.octets, to: head, context)
        case .download(let format, let query):
            let name = [("Content-Disposition", "attachment; filename=\"harald.\(format.rawValue)\"")]
            respond(200, name, "application/octet-stream", capture(format, query), to: head, context)
        // The upgrader has refused the handshake.
        case .open: refuse(.unknownPath, head, context)
        case .refuse(let refusal): refuse(refusal, head, context)
        }
    }

    private func refuse(_ refusal: PageAccess.Refusal, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let text = refusal.text + "\n"
        respond(refusal.status, [], "text/plain; charset=utf-8", Array(text.utf8), to: head, context)
    }

    private func respond(
        _ status: Int,
        _ more: [(String, String)],
        _ type: String,
        _ octets: [UInt8],
        to request: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        var headers = HTTPHeaders(PageFiles.headers + more)
        headers.add(name: "Content-Type", value: type)
        headers.add(name: "Content-Length", value: "\(octets.count)")
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: request.version, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: octets)))),
                promise: nil
            )
        }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if !request.isKeepAlive { channel.close(promise: nil) }
        }
    }
}
