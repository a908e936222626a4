import BluetoothTypes
import HCI
import NIOCore
import NIOEmbedded
import Testing

@testable import HCITransports

@Suite struct H4HandlerTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(H4Handler())
        return channel
    }

    private func octets(_ bytes: [UInt8]) -> ByteBuffer { ByteBuffer(bytes: bytes) }

    @Test func packetsGoOutWithTheirType() throws {
        let channel = try channel()
        try channel.writeOutbound(HCIPacket(Reset()))
        try channel.writeOutbound(
            HCIPacket(ACLPacket(handle: .init(rawValue: 0x40), boundary: .start, payload: [7, 8]))
        )
        #expect(try channel.readOutbound(as: ByteBuffer.self) == octets([0x01, 0x03, 0x0C, 0x00]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == octets([0x02, 0x40, 0x20, 0x02, 0x00, 7, 8]))
    }

    @Test func packetsComeInWhereverTheStreamIsCut() throws {
        let stream: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00, 0x02, 0x40, 0x20, 0x01, 0x00, 0xAA]
        for cut in 0...stream.count {
            let channel = try channel()
            try channel.writeInbound(octets(Array(stream[..<cut])))
            try channel.writeInbound(octets(Array(stream[cut...])))
            let event = try #require(try channel.readInbound(as: HCIPacket.self))
            let data = try #require(try channel.readInbound(as: HCIPacket.self))
            #expect(event.kind == .event && event.bytes.count == 6)
            #expect(data == HCIPacket(.acl, [0x40, 0x20, 0x01, 0x00, 0xAA]))
            #expect(try channel.readInbound(as: HCIPacket.self) == nil)
        }
    }

    @Test("AB-H02: an unknown packet type is a typed error behind the packets before it")
    func anUnknownPacketTypeIsAnErrorInItsPlace() throws {
        let channel = try channel()
        #expect(throws: HCITransportError.malformed(PacketError(.value(9), at: "H4 packet type"))) {
            try channel.writeInbound(octets([0x01, 0x03, 0x0C, 0x00, 9, 1, 2]))
        }
        #expect(try channel.readInbound(as: HCIPacket.self) == HCIPacket(.command, [0x03, 0x0C, 0x00]))
        _ = try? channel.writeInbound(octets([0x01, 0x03, 0x0C, 0x00]))
        #expect(try channel.readInbound(as: HCIPacket.self) == nil)
    }
}
