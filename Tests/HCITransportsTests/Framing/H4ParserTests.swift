import BluetoothTypes
import HCI
import HCITransports
import Testing

@Suite struct H4ParserTests {
    private static let stream: [UInt8] = [
        0x01, 0x03, 0x0C, 0x00,  // a command packet: HCI_Reset
        0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00,  // an event: Command Complete
        0x02, 0x40, 0x20, 0x05, 0x00, 1, 2, 3, 4, 5,  // ACL data of five octets
        0x03, 0x40, 0x00, 0x01, 9,  // synchronous data of one octet
        0x05, 0x40, 0x00, 0x02, 0x40, 7, 8,  // isochronous data, reserved bit set
    ]

    @Test func findsEveryKindOfPacket() {
        var parser = H4Parser()
        let packets = parser.parse(Self.stream)
        #expect(packets.map(\.kind) == [.command, .event, .acl, .synchronous, .isochronous])
        #expect(packets.map(\.bytes.count) == [3, 6, 9, 4, 6])
        #expect(parser.pendingLength == 0)
    }

    @Test func aStreamMaySplitAtEveryOctet() {
        var whole = H4Parser()
        let expected = whole.parse(Self.stream)
        for split in 0...Self.stream.count {
            var parser = H4Parser()
            let packets = parser.parse(Array(Self.stream[..<split])) + parser.parse(Array(Self.stream[split...]))
            #expect(packets == expected, "split at \(split)")
        }
        var parser = H4Parser()
        #expect(Self.stream.flatMap { parser.parse([$0]) } == expected)
    }

    @Test("AB-H02: an unknown packet type ends the stream", arguments: [0x00, 0x06, 0xFF] as [UInt8])
    func anUnknownPacketTypeEndsTheStream(type: UInt8) {
        var parser = H4Parser()
        #expect(parser.parse([0x01, 0x03, 0x0C, 0x00, type, 1, 2, 3]).count == 1)
        #expect(parser.failure == PacketError(.value(UInt64(type)), at: "H4 packet type"))
        #expect(parser.parse(Self.stream).isEmpty)
        #expect(parser.pendingLength == 0)
    }

    @Test("AB-H02: a packet that never ends is bounded")
    func aPacketThatNeverEndsIsBounded() {
        var parser = H4Parser()
        #expect(parser.parse([0x02, 0x40, 0x20, 0xFF, 0xFF]).isEmpty)
        for _ in 0..<70_000 where parser.failure == nil { _ = parser.parse([0x77]) }
        #expect(parser.pendingLength <= H4Parser.maximumPacketLength)
    }

    @Test func aPacketThatDripsInIsWhole() {
        var parser = H4Parser()
        let payload = (0..<65_535).map { UInt8(truncatingIfNeeded: $0) }
        let packet: [UInt8] = [0x02, 0x40, 0x20, 0xFF, 0xFF] + payload
        var packets: [HCIPacket] = []
        for octet in packet + packet { packets += parser.parse([octet]) }
        #expect(packets == [HCIPacket(.acl, PacketBuffer(Array(packet.dropFirst())))] + packets.suffix(1))
        #expect(packets.count == 2)
        #expect(packets.first == packets.last)
    }
}
