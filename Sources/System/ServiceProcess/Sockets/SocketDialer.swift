import EventLoops
import HCITransports
import Logging
import NIOCore
import NIOPosix
import ServiceMessages

/// Connects to the service that is listening at a path.
package struct SocketDialer: Dialer {
    /// The number of octets that are read at a time. It may be large because no other client uses the loop of an app's
    /// connection.
    static let readAtOnce = 64 << 10

    private let path: String
    private let loop: NIOEventLoop

    package init(path: String, loop: NIOEventLoop) {
        self.path = path
        self.loop = loop
    }

    package func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
        let (path, loop, done) = (path, loop, LoopBound(completion, loop: loop))
        ClientBootstrap(group: loop.nio)
            .channelOption(.autoRead, value: false)
            .connect(unixDomainSocketPath: path)
            .whenComplete { result in
                loop.arrive {
                    switch result {
                    case .failure(let error):
                        done.value(.failure(.unreachable(path: path, reason: SocketLine.reason(of: error))))
                    case .success(let channel):
                        let line = SocketLine.attach(to: channel, loop: loop, atOnce: Self.readAtOnce)
                        done.value(line.map { $0 })
                    }
                }
            }
    }
}

extension RemoteConnection {
    /// Creates the connection of an app to the service at `path`. It connects at once, or when a service becomes
    /// available.
    package convenience init(
        path: String,
        hello: Hello,
        isLaunched: Bool = false,
        loop: NIOEventLoop,
        logger: Logger
    ) {
        self.init(hello: hello, isLaunched: isLaunched, loop: loop, logger: logger) {
            SocketDialer(path: path, loop: loop)
        }
    }
}
