import EventLoops
import HCI
import HCIFraming
import NIOCore
import NIOPosix

/// Accepts TCP connections and creates a transport for each.
package final class TCPServer {
    /// The maximum number of open connections. Further ones are closed at once.
    package static let maximumConnections = 64

    /// The port number, including one that the system chose.
    package let port: Int
    private let channel: any Channel

    private init(channel: any Channel, port: Int) {
        self.channel = channel
        self.port = port
    }

    /// Listens on `host`, by default the loopback interface. Port 0 lets the system choose a port.
    ///
    /// `onConnection` and `completion` are called on the loop. On the loop only.
    package static func listen(
        host: String = "127.0.0.1",
        port: Int,
        loop: NIOEventLoop,
        onConnection: @escaping (H4Transport) -> Void,
        completion: @escaping (Result<TCPServer, HCITransportError>) -> Void
    ) {
        let acceptor = LoopBound(Acceptor(onConnection), loop: loop)
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
        private var open = 0

        init(_ onConnection: @escaping (H4Transport) -> Void) {
            self.onConnection = onConnection
        }

        func accept(_ channel: any Channel, loop: NIOEventLoop) {
            guard open < TCPServer.maximumConnections else {
                channel.close(promise: nil)
                return
            }
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
    }
}
