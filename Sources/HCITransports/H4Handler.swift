import BluetoothTypes
import HCI
import NIOCore

/// H4 on a byte stream of swift-nio: octets in, packets out, and the other way round.
final class H4Handler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HCIPacket
    typealias OutboundIn = HCIPacket
    typealias OutboundOut = ByteBuffer

    private var parser = H4Parser()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let octets = Array(unwrapInboundIn(data).readableBytesView)
        for packet in parser.take(octets) {
            context.fireChannelRead(wrapInboundOut(packet))
        }
        if let failure = parser.failure {
            context.fireErrorCaught(HCITransportError.malformed(failure))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let packet = unwrapOutboundIn(data)
        var buffer = context.channel.allocator.buffer(capacity: 1 + packet.bytes.count)
        buffer.writeInteger(packet.kind.rawValue)
        packet.bytes.withUnsafeBytes { _ = buffer.writeBytes($0) }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }
}
