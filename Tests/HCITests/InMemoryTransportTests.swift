import BluetoothTypes
import EventLoops
import HCI
import Testing

@Suite struct InMemoryTransportTests {
    @Test func packetsArriveInOrderAndNeverInsideTheCall() {
        let loop = VirtualEventLoop()
        let (host, controller) = InMemoryTransport.pair(loop: loop)
        var received: [UInt8] = []
        controller.onReceive = { packet in
            received.append(packet.bytes[0])
            if packet.bytes[0] == 1 { host.send(HCIPacket(.command, [9])) }
        }
        host.send(HCIPacket(.command, [1]))
        host.send(HCIPacket(.command, [2]))
        #expect(received.isEmpty)
        loop.run(for: .zero)
        #expect(received == [1, 2, 9])
        #expect(loop.now == .zero)
    }

    @Test func closingIsToldToTheOtherEndOnce() {
        let loop = VirtualEventLoop()
        let (host, controller) = InMemoryTransport.pair(loop: loop)
        var closures: [HCITransportError] = []
        var ownClosures = 0
        controller.onClose = { closures.append($0) }
        host.onClose = { _ in ownClosures += 1 }
        host.close()
        controller.send(HCIPacket(.event, [1]))
        host.close()
        loop.run(for: .seconds(1))
        #expect(closures == [.closedByPeer])
        #expect(ownClosures == 0)
    }
}
