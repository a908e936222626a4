import BluetoothService
import EventLoops
import HCITransports
import Logging
import NIOCore
import NIOPosix
import ServiceProcess

/// Makes lines to the service that listens at a path.
package struct SocketDialer: Dialer {
    /// Octets that are read at once: nobody else waits on the loop of an app's connection.
    static let readAtOnce = 64 << 10

    private let path: String
    private let loop: NIOEventLoop

    /// Lines to the service at `path`.
    package init(path: String, loop: NIOEventLoop) {
        self.path = path
        self.loop = loop
    }

    /// Connects.
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
    /// A connection to the service at `path`, for an app. It is made at once, or whenever there is a service.
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
