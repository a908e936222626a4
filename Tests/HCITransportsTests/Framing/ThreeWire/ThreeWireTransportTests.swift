import BluetoothTypes
import EventLoops
import HCI
import TestBasics
import Testing

@testable import HCITransports

/// Two ends of a three-wire link, in virtual time.
@Suite struct ThreeWireTransportTests {
    private final class LinkEnds {
        let loop = VirtualEventLoop()
        let random: RandomSource
        let wires: (near: LossyLine, far: LossyLine)
        let host: ThreeWireTransport
        private(set) var controller: ThreeWireTransport?
        var toHost: [HCIPacket] = []
        var toController: [HCIPacket] = []
        var closures: [HCITransportError] = []

        init(seed: UInt64 = 1, hasController: Bool = true) {
            random = RandomSource(seed: seed)
            wires = LossyLine.pair(loop: loop, random: random)
            host = ThreeWireTransport(wires.near, loop: loop)
            host.onReceive = { [unowned self] in toHost.append($0) }
            host.onClose = { [unowned self] in closures.append($0) }
            if hasController { begin() }
        }

        /// Replaces the controller with one that has no state.
        func begin() {
            wires.far.reopen()
            controller = ThreeWireTransport(wires.far, loop: loop)
            controller?.onReceive = { [unowned self] in toController.append($0) }
        }

        /// The packets sent over a wire after the first `count` octets.
        static func packets(_ wire: LossyLine, after count: Int = 0) -> [ThreeWirePacket] {
            var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
            return decoder.decode(wire.sent.dropFirst(count)).compactMap { try? ThreeWirePacket(frame: $0) }
        }
    }

    private func acl(_ number: Int, _ random: RandomSource, length: Int? = nil) -> HCIPacket {
        let payload = [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] + random.bytes(length ?? 250)
        return HCIPacket(.acl, PacketBuffer(payload))
    }

    @Test("Core Vol 4 Part D 8: the link comes up by itself, and then sends the packets queued before")
    func theLineComesUp() {
        let ends = LinkEnds()
        ends.host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        ends.loop.run(for: .milliseconds(300))
        #expect(ends.toController == [HCIPacket(.command, [0x03, 0x0C, 0x00])])
        ends.controller?.send(HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0]))
        ends.loop.run(for: .milliseconds(50))
        #expect(ends.toHost == [HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0])])
        // Each was sent once and acknowledged.
        #expect(LinkEnds.packets(ends.wires.near).filter(\.isReliable).count == 1)
        #expect(LinkEnds.packets(ends.wires.far).last?.acknowledgement == 1)
        ends.loop.run(for: .seconds(10))
        #expect(LinkEnds.packets(ends.wires.near).filter(\.isReliable).count == 1)
    }

    @Test(
        "a megabyte each way arrives whole, once and in order where one octet in a thousand is lost and one is corrupted"
    )
    func aMegabyteOverALossyLine() {
        let seed: UInt64 = 1
        let ends = LinkEnds(seed: seed)
        for wire in [ends.wires.near, ends.wires.far] { wire.oneIn = 1_000 }
        let count = 4_000
        let (down, up) = (RandomSource(seed: seed), RandomSource(seed: seed + 7))
        let (sentDown, sentUp) = ((0..<count).map { acl($0, down) }, (0..<count).map { acl($0, up) })
        var next = 0
        // As many in flight as a host with credits sends.
        while next < count || ends.toHost.count < count || ends.toController.count < count {
            while next < count, next < min(ends.toHost.count, ends.toController.count) + 16 {
                ends.host.send(sentDown[next])
                ends.controller?.send(sentUp[next])
                next += 1
            }
            ends.loop.run(for: .milliseconds(20))
            guard ends.closures.isEmpty, ends.loop.now < .zero + .seconds(3_600) else { break }
        }
        #expect(ends.toController == sentDown)
        #expect(ends.toHost == sentUp)
        #expect(ends.closures.isEmpty)
        #expect(ends.host.damagedFrames > 100)
        #expect((ends.controller?.damagedFrames ?? 0) > 100)
    }

    @Test("no more reliable packets are in flight than the peer's window allows")
    func theWindow() {
        let ends = LinkEnds()
        ends.loop.run(for: .milliseconds(600))
        let before = ends.wires.near.sent.count
        ends.wires.far.isCut = true
        for number in 0..<10 { ends.host.send(acl(number, ends.random, length: 10)) }
        ends.loop.run(for: .milliseconds(200))
        let sent = LinkEnds.packets(ends.wires.near, after: before).filter(\.isReliable)
        #expect(sent.map(\.sequence) == [0, 1, 2, 3])
        #expect(sent.allSatisfy { $0.isChecked })
        ends.wires.far.isCut = false
        ends.loop.run(for: .seconds(1))
        #expect(ends.toController.map { $0.bytes[0] } == (0..<10).map { UInt8($0) })
    }

    @Test("a silent peer is reported after ten seconds during start-up, and after five once active")
    func silentPeersAreReported() {
        let alone = LinkEnds(hasController: false)
        alone.loop.run(for: .milliseconds(9_900))
        #expect(alone.closures.isEmpty)
        alone.loop.run(for: .milliseconds(200))
        #expect(alone.closures.count == 1 && "\(alone.closures)".contains("baud rate"))
        let ends = LinkEnds()
        ends.loop.run(for: .milliseconds(600))
        ends.wires.far.isCut = true
        ends.host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        ends.loop.run(for: .milliseconds(4_900))
        #expect(ends.closures.isEmpty)
        ends.loop.run(for: .milliseconds(200))
        #expect(ends.closures == [.failed(reason: "no packet was acknowledged for five seconds")])
        // The transport has given up.
        let count = ends.wires.near.sent.count
        ends.loop.run(for: .seconds(60))
        #expect(ends.wires.near.sent.count == count)
        #expect(ends.closures.count == 1)
    }

    @Test("a controller waits for its host, however late the host starts")
    func aHostThatComesLate() {
        let ends = LinkEnds(hasController: false)
        let controller = ThreeWireTransport(ends.wires.far, waitsForPeer: true, loop: ends.loop)
        var received: [HCIPacket] = []
        controller.onReceive = { received.append($0) }
        ends.host.close()
        ends.loop.run(for: .seconds(3_600))
        ends.wires.near.reopen()
        let host = ThreeWireTransport(ends.wires.near, loop: ends.loop)
        host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        ends.loop.run(for: .seconds(1))
        #expect(received == [HCIPacket(.command, [0x03, 0x0C, 0x00])])
    }

    @Test("Core Vol 4 Part D 8.4: a controller that restarts closes the transport")
    func theControllerBeginsAnew() {
        let ends = LinkEnds()
        ends.loop.run(for: .milliseconds(600))
        ends.controller?.close()
        ends.begin()
        ends.loop.run(for: .milliseconds(300))
        #expect(ends.closures == [.failed(reason: "the controller has restarted the link")])
    }

    @Test(
        "Core Vol 4 Part D 8.8: a sleeping end is woken every 50 ms until it answers, and then receives the queued packets in order"
    )
    func anEndThatSleeps() {
        let ends = LinkEnds()
        ends.loop.run(for: .milliseconds(600))
        ends.controller?.sleep()
        ends.loop.run(for: .milliseconds(10))
        let before = ends.wires.near.sent.count
        ends.wires.far.isCut = true
        for number in 0..<3 { ends.host.send(acl(number, ends.random, length: 5)) }
        ends.loop.run(for: .milliseconds(220))
        let said = LinkEnds.packets(ends.wires.near, after: before).map(\.payload)
        #expect(said == [[UInt8]](repeating: ThreeWireMessage.wakeUp.payload, count: 5))
        ends.wires.far.isCut = false
        ends.loop.run(for: .milliseconds(200))
        #expect(ends.toController.map { $0.bytes[0] } == [0, 1, 2] && ends.closures.isEmpty)
    }

    @Test("AB-H02: packets before the link is up, out of order, or with a false acknowledgement change nothing")
    func unexpectedPacketsChangeNothing() {
        var machine = ThreeWireMachine(own: ThreeWireConfiguration(window: 4, isChecked: true))
        _ = machine.handle(.opened)
        var event = ThreeWirePacket(.event, [0x0E, 0])
        event.isReliable = true
        #expect(machine.handle(.received(event)).isEmpty)
        #expect(machine.handle(.receivedAll).isEmpty)
        for message in [ThreeWireMessage.syncResponse, .configurationResponse(machine.own)] {
            _ = machine.handle(.received(ThreeWirePacket(.linkControl, message.payload)))
        }
        #expect(machine.state == .active)
        // Acknowledges five packets, though none was sent.
        event.acknowledgement = 5
        #expect(machine.handle(.received(event)) == [.deliver(HCIPacket(.event, [0x0E, 0]))])
        #expect(machine.handle(.received(event)).isEmpty)
        // The acknowledgement still requests the expected packet.
        guard case .transmit(let answer)? = machine.handle(.receivedAll).first else {
            return recordIssue("nothing is acknowledged")
        }
        #expect(answer.kind == .acknowledgement)
        #expect(answer.acknowledgement == 1)
        let sent = machine.handle(.send(HCIPacket(.command, [1, 2, 0])))
        #expect(sent.contains(.setTimer(.acknowledgement)))
        var wrong = ThreeWirePacket(.acknowledgement, acknowledgement: 3)
        #expect(machine.handle(.received(wrong)).isEmpty)
        wrong.acknowledgement = 1
        #expect(machine.handle(.received(wrong)) == [.setTimer(nil)])
        let long = HCIPacket(.acl, PacketBuffer([UInt8](repeating: 0, count: 4_096)))
        #expect(machine.handle(.send(long)).contains(.failed(.packetTooLong(4_096))))
    }

    @Test("AB-G05: packets queued before the link is up are bounded, and the closing is not reported within a call")
    func queuedPacketsAreBounded() {
        let ends = LinkEnds(hasController: false)
        for number in 0...ThreeWireMachine.maximumWaiting { ends.host.send(acl(number, ends.random, length: 1)) }
        #expect(ends.closures.isEmpty)
        ends.loop.run(for: .zero)
        #expect(ends.closures.count == 1)
    }
}
