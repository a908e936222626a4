import BluetoothTypes
import EventLoops
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

/// H4 over TCP. Which end is the host and which the controller is up to those who hold the ends.
package final class TCPTransport: HCITransport {
    /// How long a connection attempt may take.
    package static let connectTimeout = TimeAmount.seconds(5)
    /// Octets that may wait for an end that does not read. It is taken for dead when there are more.
    package static let maximumUnsent = 4 << 20

    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone.
    package var onClose: ((HCITransportError) -> Void)?
    /// Host and port: whoever answers there.
    package let place: String

    private let channel: any Channel
    private let loop: NIOEventLoop
    private var isOpen = true

    init(channel: any Channel, place: String, loop: NIOEventLoop) {
        self.channel = channel
        self.place = place
        self.loop = loop
    }

    /// Connects to a controller, or to a host that waits for one. `completion` is called on the loop, once.
    ///
    /// On the loop only.
    package static func connect(
        host: String,
        port: Int,
        loop: NIOEventLoop,
        completion: @escaping (Result<TCPTransport, HCITransportError>) -> Void
    ) {
        let address = ControllerAddress.tcp(host: host, port: port).description
        let bound = LoopBoundCompletion(completion, loop: loop)
        ClientBootstrap(group: loop.nio)
            .connectTimeout(connectTimeout)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            // Nothing is read before the transport is there to take it.
            .channelOption(.autoRead, value: false)
            .connect(host: host, port: port)
            .whenComplete { result in
                loop.arrive {
                    switch result {
                    case .success(let channel): bound.call(attach(to: channel, loop: loop, address: address))
                    case .failure(let error):
                        bound.call(.failure(.unreachable(address: address, reason: reason(of: error))))
                    }
                }
            }
    }

    /// Puts the handlers into the pipeline of a connected channel and lets it read.
    static func attach(
        to channel: any Channel,
        loop: NIOEventLoop,
        address: String
    ) -> Result<TCPTransport, HCITransportError> {
        let transport = TCPTransport(channel: channel, place: address, loop: loop)
        do {
            try channel.pipeline.syncOperations.addHandlers([H4Handler(), Receiver(transport)])
            let mark = ChannelOptions.Types.WriteBufferWaterMark(low: maximumUnsent / 2, high: maximumUnsent)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            channel.close(promise: nil)
            return .failure(.unreachable(address: address, reason: reason(of: error)))
        }
        return .success(transport)
    }

    /// Sends a packet.
    package func send(_ packet: HCIPacket) {
        guard isOpen else { return }
        guard channel.isWritable else {
            return loop.execute { [self] in lost(.failed(reason: "the other end does not read")) }
        }
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(packet), promise: nil)
    }

    /// Closes the line.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        channel.close(promise: nil)
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        isOpen = false
        channel.close(promise: nil)
        onClose?(error)
    }

    /// What the operating system says, in words.
    private static func reason(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError { return "\(dns)" }
            return error.connectionErrors.last.map { reason(of: $0.error) } ?? "\(error)"
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: return "no answer within \(connectTimeout.nanoseconds / 1_000_000_000) s"
        default: return "\(error)"
        }
    }

    /// The last handler of the pipeline: from the channel to the transport, on the loop's time.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = HCIPacket

        private let transport: TCPTransport

        init(_ transport: TCPTransport) {
            self.transport = transport
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let packet = unwrapInboundIn(data)
            transport.loop.arrive { if transport.isOpen { transport.onReceive?(packet) } }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let error = error as? HCITransportError ?? .failed(reason: TCPTransport.reason(of: error))
            transport.loop.arrive { transport.lost(error) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            transport.loop.arrive { transport.lost(.closedByPeer) }
        }
    }
}

/// A completion handler that lives on the loop, carried through the futures of swift-nio, which are called there too.
struct LoopBoundCompletion<Value>: @unchecked Sendable {
    // Safe: made and called on the loop only, which both check.
    private let completion: (Value) -> Void
    private let loop: NIOEventLoop

    init(_ completion: @escaping (Value) -> Void, loop: NIOEventLoop) {
        loop.nio.preconditionInEventLoop()
        self.completion = completion
        self.loop = loop
    }

    func call(_ value: Value) {
        loop.nio.preconditionInEventLoop()
        completion(value)
    }
}
