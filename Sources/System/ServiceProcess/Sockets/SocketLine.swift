import BluetoothTypes
import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOPosix

/// One end of a connected socket that sends and receives messages. The messages sent within one task of the loop are
/// written together.
///
/// Used on its event loop.
final class SocketLine: MessageLine {
    /// The number of queued octets from which ``onRoom`` reports that the peer does not read.
    static let highWaterMark = 256 << 10
    /// The number of queued octets below which there is room again.
    static let lowWaterMark = 64 << 10
    /// The maximum number of queued octets, beyond which the connection ends.
    static let maximumUnsent = 16 << 20

    var onReceive: ((PacketBuffer) -> Void)?
    var onClose: ((MessageLineError) -> Void)?
    var onRoom: ((Bool) -> Void)?

    private enum State {
        case open
        /// The connection has ended; the task that reports it has not run yet.
        case failing(MessageLineError)
        case closed
    }

    private let channel: any Channel
    private let loop: NIOEventLoop
    private var parser = FrameParser()
    private var outgoing: ByteBuffer
    private var isFlushing = false
    private var state = State.open
    private var unsent = 0

    private var isOpen: Bool { if case .open = state { true } else { false } }

    var hasRoom: Bool { isOpen && channel.isWritable }

    /// Creates a line over `channel`, which is connected and does not read yet. Call on the event loop.
    private init(_ channel: any Channel, loop: NIOEventLoop) {
        self.channel = channel
        self.loop = loop
        outgoing = channel.allocator.buffer(capacity: 4_096)
    }

    /// Creates a line over a connected channel, and lets the channel read. It reads at most `atOnce` octets at a time,
    /// so that other connections on the loop have their turn.
    static func attach(to channel: any Channel, loop: NIOEventLoop, atOnce: Int) -> Result<SocketLine, MessageLineError>
    {
        let line = SocketLine(channel, loop: loop)
        do {
            try channel.pipeline.syncOperations.addHandler(Receiver(line))
            let mark = ChannelOptions.Types.WriteBufferWaterMark(low: lowWaterMark, high: highWaterMark)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            let allocator = FixedSizeRecvByteBufferAllocator(capacity: atOnce)
            try channel.syncOptions?.setOption(.recvAllocator, value: allocator)
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            channel.close(promise: nil)
            return .failure(.failed(reason: reason(of: error)))
        }
        return .success(line)
    }

    /// Sends a message, together with the others that are sent in this task.
    func send(_ message: PacketBuffer) {
        guard isOpen else { return }
        FrameParser.frame(message).withUnsafeBytes { _ = outgoing.writeBytes($0) }
        if outgoing.readableBytes >= Self.highWaterMark { return flush() }
        guard !isFlushing else { return }
        isFlushing = true
        loop.execute { [weak self] in self?.flush() }
    }

    private func flush() {
        isFlushing = false
        guard isOpen, outgoing.readableBytes > 0 else { return }
        let octets = outgoing
        outgoing = channel.allocator.buffer(capacity: 4_096)
        unsent += octets.readableBytes
        guard unsent <= Self.maximumUnsent else { return lost(.notTaken(octets: unsent)) }
        let line = LoopBound(self, loop: loop)
        let count = octets.readableBytes
        channel.writeAndFlush(octets).whenComplete { _ in line.value.unsent -= count }
    }

    func read(_ isReading: Bool) {
        try? channel.syncOptions?.setOption(.autoRead, value: isReading)
    }

    /// Closes the line after the queued messages have been sent, or after a second if the peer does not read them.
    func close() {
        if isOpen { flush() }
        // The owner has closed the line, so it is not notified of the failure.
        guard isOpen else { return state = .closed }
        state = .closed
        let channel = channel
        guard unsent > 0 else { return channel.close(promise: nil) }
        // Messages to a peer that does not read are dropped.
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { _ in
            deadline.cancel()
            channel.close(promise: nil)
        }
    }

    private func received(_ octets: PacketBuffer) {
        let messages: [PacketBuffer]
        do throws(FrameParser.TooLong) {
            messages = try parser.parse(octets)
        } catch {
            return lost(.malformed("it has \(error.length) octets"))
        }
        for message in messages where isOpen { onReceive?(message) }
    }

    func lost(_ error: MessageLineError) {
        guard isOpen else { return }
        state = .failing(error)
        channel.close(promise: nil)
        loop.execute { [self] in reportFailure() }
    }

    private func reportFailure() {
        guard case .failing(let error) = state else { return }
        state = .closed
        onClose?(error)
    }

    static func reason(of error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case SocketAddressError.unixDomainSocketPathTooLong: "the path is too long for a socket"
        default: "\(error)"
        }
    }

    /// The channel handler that passes events of the channel to the line, at the time of the loop.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let line: SocketLine

        init(_ line: SocketLine) {
            self.line = line
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let octets = PacketBuffer(Array(unwrapInboundIn(data).readableBytesView))
            line.loop.arrive { [line] in if line.isOpen { line.received(octets) } }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            let hasRoom = context.channel.isWritable
            line.loop.arrive { [line] in if line.isOpen { line.onRoom?(hasRoom) } }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let reason = SocketLine.reason(of: error)
            line.loop.arrive { [line] in line.lost(.failed(reason: reason)) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            line.loop.arrive { [line] in line.lost(.closedByPeer) }
        }
    }
}
