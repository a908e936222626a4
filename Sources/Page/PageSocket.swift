import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOWebSocket

/// The WebSocket of one open page (RFC 6455).
///
/// A browser that reads slowly goes without events, and is told how many; of values that change it gets the last one
/// when it is ready. One that does not read at all, or has gone without a word, is closed.
final class PageSocket: ChannelInboundHandler, PageOutlet {
    typealias InboundIn = WebSocketFrame

    /// The number of octets that wait for a browser from which on it goes without events and intermediate values.
    static let highWaterMark = 256 << 10
    static let lowWaterMark = 64 << 10
    /// The number of octets that the kernel buffers for a browser. By itself, it would take megabytes.
    static let kernelBuffer: SocketOptionValue = 128 << 10
    /// The number of octets that may wait for a browser.
    static let maximumUnsent = 2 << 20
    /// The time between two pings. A browser that has not answered the last one is closed.
    static let pingInterval = TimeAmount.seconds(20)

    private enum State {
        case opening
        case open(any Channel)
        case closed
    }

    private let hub: PageHub
    private let loop: NIOEventLoop
    private var state = State.opening
    private var lost = 0
    /// The values of which the browser has an old version, because it was too slow.
    private var stale: Set<String> = []
    private var unsent = 0
    private var isAnswered = true
    private var ping: RepeatedTask?
    private var partial: [UInt8]?

    init(_ hub: PageHub, loop: NIOEventLoop) {
        (self.hub, self.loop) = (hub, loop)
    }

    // MARK: The page

    func show(_ frame: PageFrame) {
        guard case .open(let channel) = state else { return }
        if !channel.isWritable {
            switch frame.need {
            case .always: break
            case .passing: return
            case .item(let count): return lost += count
            case .latest(let name):
                stale.insert(name)
                return
            }
        }
        guard unsent + frame.octets.readableBytes <= Self.maximumUnsent else { return channel.close(promise: nil) }
        send(frame.octets, over: channel)
    }

    private func send(_ data: ByteBuffer, over channel: any Channel) {
        let count = data.readableBytes
        unsent += count
        let socket = LoopBound(self, loop: loop)
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: data)).whenComplete { _ in
            socket.value.unsent -= count
        }
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        state = .open(channel)
        ping = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.pingInterval, delay: Self.pingInterval) {
            [socket = LoopBound(self, loop: loop)] _ in
            socket.value.look()
        }
        loop.arrive { [self] in
            if !hub.add(self) { channel.close(promise: nil) }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary, .continuation: received(Array(frame.unmaskedData.readableBytesView), isLast: frame.fin)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(NIOAny(pong), promise: nil)
        case .pong: isAnswered = true
        case .connectionClose: context.close(promise: nil)
        default: context.close(promise: nil)
        }
        frame.data.clear()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        if lost > 0 {
            let text = "{\"type\":\"lost\",\"value\":\(lost)}"
            lost = 0
            send(ByteBuffer(string: text), over: context.channel)
        }
        guard !stale.isEmpty else { return }
        let names = stale.sorted()
        stale = []
        loop.arrive { [self] in hub.refresh(names, of: self) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .closed
        ping?.cancel()
        ping = nil
        loop.arrive { [self] in hub.remove(self) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func received(_ octets: [UInt8], isLast: Bool) {
        let text = (partial ?? []) + octets
        guard text.count <= PageMessage.maximumLength, case .open(let channel) = state else {
            if case .open(let channel) = state { channel.close(promise: nil) }
            return
        }
        guard isLast else { return partial = text }
        partial = nil
        _ = channel
        loop.arrive { [self] in hub.handle(text, from: self) }
    }

    private func look() {
        guard case .open(let channel) = state else { return }
        guard isAnswered else { return channel.close(promise: nil) }
        isAnswered = false
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()), promise: nil)
    }
}
