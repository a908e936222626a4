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
        case cannotListen(host: String, port: Int, reason: String)

        package var description: String {
            switch self {
            case .cannotListen(let host, let port, let reason):
                "cannot listen at \(host):\(port): \(reason)"
            }
        }
    }

    private let hub: PageHub
    private let loop: NIOEventLoop
    private let connections: PageConnections
    private var channel: (any Channel)?

    /// Creates the server of a page over a conversation that is open.
    ///
    /// - Parameter devices: The program that uses devices for the page, with its arguments: see ``PageDevices``.
    package init(_ client: ToolClient, loop: NIOEventLoop, devices: [String]) {
        self.loop = loop
        connections = PageConnections(loop: loop)
        hub = PageHub(client, loop: loop, app: PageApp(devices, loop: loop))
    }

    /// Creates the server of a page that shows a simulated world, and the system of one of its devices.
    ///
    /// - Parameter client: An open conversation with the system. ``use(_:)`` replaces it.
    package init(_ client: ToolClient, of world: any PageWorld, loop: NIOEventLoop) {
        self.loop = loop
        connections = PageConnections(loop: loop)
        hub = PageHub(client, loop: loop, app: nil, world: world)
    }

    package func use(_ client: ToolClient) { hub.use(client) }

    package func send(_ value: PageValue) { hub.send(value) }

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
            // A full queue would make a browser wait for a second (RFC 6298 2).
            .serverChannelOption(.backlog, value: 1_024)
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
                    loop.arrive { completion.value(.success("http://\(shown):\(port)/#token=\(access.token)")) }
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

/// Sets up the connection of a browser. On the loop only.
final class PageEntry {
    /// The limits of a request (AB-P02). Browsers send less than 1 KiB in about 15 fields.
    private static let limits: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 << 10
        limits.maxHeaderListSize = 8 << 10
        limits.maxHeaderFieldCount = 32
        return limits
    }()

    /// Set as soon as the port is known, which is before any connection.
    var access: PageAccess?
    private let hub: PageHub
    private let connections: PageConnections
    private let loop: NIOEventLoop

    init(_ hub: PageHub, _ connections: PageConnections, loop: NIOEventLoop) {
        (self.hub, self.connections, self.loop) = (hub, connections, loop)
    }

    func enter(_ channel: any Channel) throws {
        guard let access else { throw ChannelError.ioOnClosedChannel }
        connections.add(channel)
        let mark = ChannelOptions.Types.WriteBufferWaterMark(
            low: PageSocket.lowWaterMark,
            high: PageSocket.highWaterMark
        )
        try channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
        let (hub, connections) = (LoopBound(hub, loop: loop), LoopBound(connections, loop: loop))
        let responder = PageResponder(access) { ticket in
            guard let file = hub.value.download(ticket) else { return nil }
            connections.value.extend(channel)
            return file
        }
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withServerUpgrade: (
                upgraders: [upgrader(access)],
                completionHandler: { [responder = NIOLoopBound(responder, eventLoop: channel.eventLoop)] context in
                    context.pipeline.syncOperations.removeHandler(responder.value, promise: nil)
                }
            ),
            withErrorHandling: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: Self.limits
        )
        try channel.pipeline.syncOperations.addHandler(responder)
    }

    private func upgrader(_ access: PageAccess) -> NIOWebSocketServerUpgrader {
        let (hub, connections) = (LoopBound(hub, loop: loop), LoopBound(connections, loop: loop))
        let loop = loop
        return NIOWebSocketServerUpgrader(
            maxFrameSize: PageMessage.maximumLength,
            shouldUpgrade: { channel, head in
                let mayOpen = access.verdict(on: PageAccess.Request(head)) == .open
                return channel.eventLoop.makeSucceededFuture(mayOpen ? HTTPHeaders() : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let socket = PageSocket(hub.value, access, connections.value, loop: loop)
                    try channel.pipeline.syncOperations.addHandler(socket)
                }
            }
        )
    }
}
