import HCI
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The ways to the other end. All on the loop only; `completion` is called on the loop, once.
extension ChannelLine {
    /// How long a connection attempt may take.
    package static let connectTimeout = TimeAmount.seconds(5)

    /// Over TCP.
    static func connect(
        host: String,
        port: Int,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = client(loop).channelOption(.socketOption(.tcp_nodelay), value: 1).connect(host: host, port: port)
        let place = ControllerAddress.tcp(host: host, port: port).description
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    /// To a Unix socket.
    static func connect(
        path: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = client(loop).connect(unixDomainSocketPath: path)
        attach(to: channel, place: ControllerAddress.unix(path: path).description, loop: loop, completion: completion)
    }

    /// The standard input and output of this process, which has only its standard error for words from then on.
    static func standard(loop: NIOEventLoop, completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void) {
        let (input, output) = (dup(STDIN_FILENO), dup(STDOUT_FILENO))
        // What else this process prints would be taken for packets.
        dup2(STDERR_FILENO, STDOUT_FILENO)
        let channel = pipes(loop).takingOwnershipOfDescriptors(input: input, output: output)
        attach(to: channel, place: ControllerAddress.standard.description, loop: loop, completion: completion)
    }

    /// A device of characters that is open, and is closed with the line.
    package static func device(
        _ descriptor: Int32,
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let channel = pipes(loop).takingOwnershipOfDescriptor(inputOutput: descriptor)
        attach(to: channel, place: place, loop: loop, completion: completion)
    }

    // Nothing is read before the line is there to take it.
    private static func client(_ loop: NIOEventLoop) -> ClientBootstrap {
        ClientBootstrap(group: loop.nio).connectTimeout(connectTimeout).channelOption(.autoRead, value: false)
    }

    private static func pipes(_ loop: NIOEventLoop) -> NIOPipeBootstrap {
        NIOPipeBootstrap(group: loop.nio).channelOption(.autoRead, value: false)
    }
}
