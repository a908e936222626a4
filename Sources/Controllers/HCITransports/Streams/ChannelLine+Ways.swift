import EventLoops
import Foundation
import HCI
import NIOCore
import NIOPosix

/// Ways to open a line. Call them on the loop; `completion` is called once, on the loop. `place` is the address of the
/// other end, for the user.
extension ChannelLine {
    /// The time limit of a connection attempt.
    package static let connectTimeout = TimeAmount.seconds(5)

    /// Connects over TCP, without Nagle's algorithm.
    static func connect(
        host: String,
        port: Int,
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = client(loop).channelOption(.socketOption(.tcp_nodelay), value: 1).connect(host: host, port: port)
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    /// Connects to a Unix socket.
    static func connect(
        path: String,
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = client(loop).connect(unixDomainSocketPath: path)
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    /// Opens a line over this process's standard input and output. From then on, anything that the process prints goes
    /// to standard error.
    static func standard(
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        guard canBeWatched(STDIN_FILENO), canBeWatched(STDOUT_FILENO) else {
            let reason = "standard input and output have to be pipes, sockets or terminals"
            _ = loop.schedule(after: .zero) { completion(.failure(.unreachable(address: place, reason: reason))) }
            return
        }
        let (input, output) = (dup(STDIN_FILENO), dup(STDOUT_FILENO))
        // Redirected so that nothing else that this process prints is taken for packets.
        dup2(STDERR_FILENO, STDOUT_FILENO)
        let channel = pipes(loop).takingOwnershipOfDescriptors(input: input, output: output)
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    /// Opens a line over an open character device. The line owns `descriptor` and closes it.
    package static func device(
        _ descriptor: Int32,
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = pipes(loop).takingOwnershipOfDescriptor(inputOutput: descriptor)
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    /// Whether a selector accepts this descriptor. swift-nio traps if epoll refuses one, as it does for files and for
    /// `/dev/null` (epoll_ctl(2), EPERM).
    private static func canBeWatched(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) || isatty(descriptor) == 1
    }

    // Reading starts when the line is attached and can receive.
    private static func client(_ loop: NIOEventLoop) -> ClientBootstrap {
        ClientBootstrap(group: loop.nio).connectTimeout(connectTimeout).channelOption(.autoRead, value: false)
    }

    private static func pipes(_ loop: NIOEventLoop) -> NIOPipeBootstrap {
        NIOPipeBootstrap(group: loop.nio).channelOption(.autoRead, value: false)
    }
}
