import BluetoothTypes
import EventLoops
import HCI
import NIOCore
import NIOPosix

/// Accepts TCP connections and creates a transport for each.
package final class TCPServer {
    /// The maximum number of open connections. Further ones are refused: their hosts get an error for each command.
    package static let maximumConnections = 64
    /// The maximum number of connections that are being refused. Further ones are closed at once.
    package static let maximumRefusals = 16
    /// How long a refused connection may stay open, so that its host gets the error.
    package static let refusalTimeout = Duration.seconds(10)

    /// The port number, including one that the system chose.
    package let port: Int
    private let channel: any Channel

    private init(channel: any Channel, port: Int) {
        self.channel = channel
        self.port = port
    }

    /// Listens on `host`, by default the loopback interface. Port 0 lets the system choose a port.
    ///
    /// The callbacks are called on the loop. On the loop only.
    ///
    /// - Parameters:
    ///   - onConnection: Called with each connection.
    ///   - onRefusal: Called for each connection beyond the maximum.
    package static func listen(
        host: String = "127.0.0.1",
        port: Int,
        loop: NIOEventLoop,
        onConnection: @escaping (H4Transport) -> Void,
        onRefusal: @escaping () -> Void = {},
        completion: @escaping (Result<TCPServer, HCITransportError>) -> Void
    ) {
        let acceptor = LoopBound(Acceptor(onConnection, onRefusal), loop: loop)
        let bound = LoopBoundCompletion(completion, loop: loop)
        ServerBootstrap(group: loop.nio)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { acceptor.value.accept(channel, loop: loop) }
            }
            .bind(host: host, port: port)
            .whenComplete { result in
                loop.arrive {
                    bound.call(
                        result.map { TCPServer(channel: $0, port: $0.localAddress?.port ?? port) }
                            .mapError {
                                .unreachable(address: "tcp:\(host):\(port)", reason: ChannelLine.reason(of: $0))
                            }
                    )
                }
            }
    }

    /// Stops listening. Open connections stay open.
    package func close() {
        channel.close(promise: nil)
    }

    /// Counts connections and passes them on.
    private final class Acceptor {
        private let onConnection: (H4Transport) -> Void
        private let onRefusal: () -> Void
        private var open = 0
        private var refused: [Int: H4Transport] = [:]
        private var refusals = 0

        init(_ onConnection: @escaping (H4Transport) -> Void, _ onRefusal: @escaping () -> Void) {
            (self.onConnection, self.onRefusal) = (onConnection, onRefusal)
        }

        func accept(_ channel: any Channel, loop: NIOEventLoop) {
            guard open < TCPServer.maximumConnections else { return refuse(channel, loop: loop) }
            open += 1
            let acceptor = LoopBound(self, loop: loop)
            channel.closeFuture.whenComplete { _ in acceptor.value.open -= 1 }
            // The channel becomes active, and starts to read, only after this initializer.
            loop.arrive { [self] in
                if case .success(let line) = ChannelLine.attach(to: channel, place: "tcp", loop: loop) {
                    onConnection(H4Transport(line))
                }
            }
        }

        private func refuse(_ channel: any Channel, loop: NIOEventLoop) {
            loop.arrive { [self] in
                onRefusal()
                guard refused.count < TCPServer.maximumRefusals,
                    case .success(let line) = ChannelLine.attach(to: channel, place: "tcp", loop: loop)
                else { return channel.close(promise: nil) }
                answer(H4Transport(line), loop: loop)
            }
        }

        /// Answers each command with Connection Rejected due to Limited Resources, since a host learns nothing from a
        /// connection that is reset.
        private func answer(_ transport: H4Transport, loop: NIOEventLoop) {
            refusals += 1
            let number = refusals
            refused[number] = transport
            let timer = loop.schedule(after: TCPServer.refusalTimeout) { [self] in
                refused.removeValue(forKey: number)?.close()
            }
            transport.onReceive = { [weak transport] packet in
                guard packet.kind == .command, let command = try? CommandPacket(reading: packet.bytes) else { return }
                let status = PacketBuffer([HCIStatus.rejectedForLimitedResources.rawValue])
                let complete = CommandComplete(credits: 1, opcode: command.opcode, parameters: status)
                transport?.send(HCIPacket(complete))
            }
            transport.onClose = { [self] _ in
                loop.cancel(timer)
                refused[number] = nil
            }
        }
    }
}
