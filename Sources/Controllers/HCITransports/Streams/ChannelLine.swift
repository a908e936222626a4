import BluetoothTypes
import EventLoops
import Foundation
import HCI
import NIOCore
import NIOPosix

/// A line of octets over a swift-nio channel: a socket, a serial port, or a pair of pipes. Lives on its loop.
package final class ChannelLine: OctetLine {
    /// The maximum number of octets queued for a peer that does not read. Beyond this, the line fails.
    package static let maximumUnsent = 4 << 20

    package var onReceive: (([UInt8]) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package let place: String

    private let channel: any Channel
    private let loop: NIOEventLoop
    private var isOpen = true

    private init(channel: any Channel, place: String, loop: NIOEventLoop) {
        self.channel = channel
        self.place = place
        self.loop = loop
    }

    /// Attaches a line to a channel whose automatic reading is off, and turns it on. On the loop only.
    static func attach(
        to channel: any Channel,
        place: String,
        loop: NIOEventLoop
    ) -> Result<ChannelLine, HCITransportError> {
        let line = ChannelLine(channel: channel, place: place, loop: loop)
        do {
            try channel.pipeline.syncOperations.addHandler(Receiver(line))
            let mark = ChannelOptions.Types.WriteBufferWaterMark(low: maximumUnsent / 2, high: maximumUnsent)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            channel.close(promise: nil)
            return .failure(.unreachable(address: place, reason: reason(of: error)))
        }
        return .success(line)
    }

    /// Waits for a channel to open and attaches a line to it. `completion` is called once, on the loop.
    static func attach(
        to channel: EventLoopFuture<any Channel>,
        place: String,
        loop: NIOEventLoop,
        completion: @escaping (Result<ChannelLine, HCITransportError>) -> Void
    ) {
        let bound = LoopBoundCompletion(completion, loop: loop)
        channel.whenComplete { result in
            loop.arrive {
                switch result {
                case .success(let channel): bound.call(attach(to: channel, place: place, loop: loop))
                case .failure(let error):
                    bound.call(.failure(.unreachable(address: place, reason: reason(of: error))))
                }
            }
        }
    }

    package func send(_ octets: PacketBuffer) {
        guard isOpen else { return }
        guard channel.isWritable else {
            return loop.execute { [self] in lost(.failed(reason: "the peer does not read")) }
        }
        var buffer = channel.allocator.buffer(capacity: octets.count)
        octets.withUnsafeBytes { _ = buffer.writeBytes($0) }
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(buffer), promise: nil)
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        channel.close(promise: nil)
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }

    /// Returns what an error of an open line means. A peer that ends before it has read everything resets the connection
    /// (RFC 9293 3.10.4).
    private static func end(by error: any Error) -> HCITransportError {
        if let error = error as? IOError, [ECONNRESET, EPIPE].contains(error.errnoCode) { return .closedByPeer }
        return .failed(reason: reason(of: error))
    }

    /// Returns a description of the error, from the operating system where there is one.
    static func reason(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError { return reason(of: dns) }
            return error.connectionErrors.last.map { reason(of: $0.error) } ?? "\(error)"
        case let error as SocketAddressError.UnknownHost: return "there is no host \(error.host)"
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case SocketAddressError.unixDomainSocketPathTooLong: return "the path is too long for a socket"
        case ChannelError.connectTimeout(let time): return "no answer within \(time.nanoseconds / 1_000_000_000) s"
        default: return "\(error)"
        }
    }

    /// Forwards channel events to the line, as arrivals on the loop.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let line: ChannelLine

        init(_ line: ChannelLine) {
            self.line = line
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let octets = Array(unwrapInboundIn(data).readableBytesView)
            line.loop.arrive { [line] in if line.isOpen { line.onReceive?(octets) } }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            line.loop.arrive { [line] in line.lost(ChannelLine.end(by: error)) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            line.loop.arrive { [line] in line.lost(.closedByPeer) }
        }
    }
}
