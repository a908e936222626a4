import EventLoops
import Foundation
import HCITransports
import NIOCore
import NIOWebSocket

/// The WebSocket of one open page (RFC 6455).
///
/// Its first message must have the token (AB-P04). Until then, it receives nothing and asks nothing, and
/// ``PageConnections`` gives it five seconds.
///
/// A browser that reads slowly goes without events, and is told how many; of values that change it gets the last one
/// when it is ready. One that does not read at all, or has gone without a word, is closed.
final class PageSocket: ChannelInboundHandler, PageOutlet {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

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
        case added
        /// The token has not come yet.
        case stranger(any Channel)
        case open(any Channel)
        case closed
    }

    /// The status code that tells the page that its token is not that of this run (RFC 6455 7.4.2, private use).
    private static let staleToken = WebSocketErrorCode(codeNumber: 4_001)

    private let hub: PageHub
    private let access: PageAccess
    private let connections: PageConnections
    private let loop: NIOEventLoop
    private var state = State.added
    private var lost = 0
    /// The values of which the browser has an old version, because it was too slow.
    private var stale: Set<String> = []
    private var unsent = 0
    private var isAnswered = true
    private var ping: RepeatedTask?
    private var partial: [UInt8]?

    init(_ hub: PageHub, _ access: PageAccess, _ connections: PageConnections, loop: NIOEventLoop) {
        (self.hub, self.access, self.connections, self.loop) = (hub, access, connections, loop)
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

    func handlerAdded(context: ChannelHandlerContext) { state = .stranger(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        // A client masks each frame (RFC 6455 5.1; AB-P05).
        guard frame.maskKey != nil else { return close(.protocolError, context) }
        switch frame.opcode {
        case .text, .binary, .continuation: receive(Array(frame.unmaskedData.readableBytesView), frame.fin, context)
        // Only the last ping needs an answer (RFC 6455 5.5.3), so one that does not fit is left out (AB-P01).
        case .ping where context.channel.isWritable:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .ping: break
        case .pong: isAnswered = true
        default: context.close(promise: nil)
        }
    }

    private func receive(_ octets: [UInt8], _ isLast: Bool, _ context: ChannelHandlerContext) {
        let text = (partial ?? []) + octets
        guard text.count <= PageMessage.maximumLength else { return close(.messageTooLarge, context) }
        partial = isLast ? nil : text
        guard isLast else { return }
        switch state {
        case .stranger(let channel):
            guard access.admits(text) else { return close(Self.staleToken, context) }
            open(channel)
        case .open: loop.arrive { [self] in hub.handle(text, from: self) }
        case .added, .closed: break
        }
    }

    private func open(_ channel: any Channel) {
        state = .open(channel)
        connections.admit(channel)
        ping = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.pingInterval, delay: Self.pingInterval) {
            [socket = LoopBound(self, loop: loop)] _ in
            socket.value.sendPing()
        }
        send(ByteBuffer(string: "{\"type\":\"open\",\"value\":null}"), over: channel)
        loop.arrive { [self] in
            if !hub.add(self) { channel.close(promise: nil) }
        }
    }

    /// Closes with a reason for the browser.
    private func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        state = .closed
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        let channel = context.channel
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        context.writeAndFlush(wrapOutboundOut(frame)).whenComplete { _ in channel.close(promise: nil) }
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

    private func sendPing() {
        guard case .open(let channel) = state else { return }
        guard isAnswered else { return channel.close(promise: nil) }
        isAnswered = false
        channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()), promise: nil)
    }
}
