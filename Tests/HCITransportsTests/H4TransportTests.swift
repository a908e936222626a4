import BluetoothTypes
import HCI
import HCITransports
import Testing

/// HCI packets on an octet stream.
@Suite struct H4TransportTests {
    private static let stream: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00, 0x02, 0x40, 0x20, 0x01, 0x00, 0xAA]

    @Test func packetsGoOutWithTheirType() {
        let line = TestLine()
        let transport = H4Transport(line)
        transport.send(HCIPacket(Reset()))
        transport.send(HCIPacket(ACLPacket(handle: .init(rawValue: 0x40), boundary: .start, payload: [7, 8])))
        #expect(line.sent == [[0x01, 0x03, 0x0C, 0x00], [0x02, 0x40, 0x20, 0x02, 0x00, 7, 8]])
        transport.close()
        transport.send(HCIPacket(Reset()))
        #expect(line.sent.count == 2)
        #expect(!line.isOpen)
    }

    @Test func packetsComeInWhereverTheStreamIsCut() {
        for cut in 0...Self.stream.count {
            let line = TestLine()
            let transport = H4Transport(line)
            var received: [HCIPacket] = []
            transport.onReceive = { received.append($0) }
            line.onReceive?(Array(Self.stream[..<cut]))
            line.onReceive?(Array(Self.stream[cut...]))
            #expect(received.map(\.kind) == [.event, .acl])
            #expect(received.last?.bytes == [0x40, 0x20, 0x01, 0x00, 0xAA])
        }
    }

    @Test("AB-H02: an unknown packet type closes the transport with a typed error, after the packets before it")
    func anUnknownPacketTypeIsAnErrorInItsPlace() {
        let line = TestLine()
        let transport = H4Transport(line)
        var (received, closures): ([HCIPacket], [HCITransportError]) = ([], [])
        transport.onReceive = { received.append($0) }
        transport.onClose = { closures.append($0) }
        line.onReceive?([0x01, 0x03, 0x0C, 0x00, 9, 1, 2])
        line.onReceive?([0x01, 0x03, 0x0C, 0x00])
        #expect(received == [HCIPacket(.command, [0x03, 0x0C, 0x00])])
        #expect(!line.isOpen)
        #expect(closures == [.malformed(PacketError(.value(9), at: "H4 packet type"))])
    }

    @Test("Core Vol 4 Part A 4: on a wire with leftover octets, packets begin with the answer to a reset")
    func aWireThatIsOutOfStep() {
        let noise: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x09, 0xFF, 0x02, 0x04, 0x0E]
        for cut in 0...(noise + Self.stream).count {
            let all = noise + Self.stream
            let line = TestLine()
            let transport = H4Transport(line, isResynchronizing: true)
            var received: [HCIPacket] = []
            transport.onReceive = { received.append($0) }
            line.onReceive?(Array(all[..<cut]))
            line.onReceive?(Array(all[cut...]))
            #expect(received.map(\.kind) == [.event, .acl], "cut at \(cut)")
        }
    }
}
