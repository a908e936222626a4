import BluetoothTypes
import EventLoops
import Testing

@testable import HCI

/// Two ends of a three-wire link, in virtual time.
@Suite struct ThreeWireTransportTests {
    private final class Bench {
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
            return decoder.take(wire.sent.dropFirst(count)).compactMap { try? ThreeWirePacket(frame: $0) }
        }
    }

    private func acl(_ number: Int, _ random: RandomSource, length: Int? = nil) -> HCIPacket {
        let payload = [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] + random.bytes(length ?? 250)
        return HCIPacket(.acl, PacketBuffer(payload))
    }

    @Test("Core Vol 4 Part D 8: the link comes up by itself, and then sends the packets queued before")
    func theLineComesUp() {
        let bench = Bench()
        bench.host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        bench.loop.run(for: .milliseconds(300))
        #expect(bench.toController == [HCIPacket(.command, [0x03, 0x0C, 0x00])])
        bench.controller?.send(HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0]))
        bench.loop.run(for: .milliseconds(50))
        #expect(bench.toHost == [HCIPacket(.event, [0x0E, 0x04, 1, 3, 0x0C, 0])])
        // Each was sent once and acknowledged.
        #expect(Bench.packets(bench.wires.near).filter(\.isReliable).count == 1)
        #expect(Bench.packets(bench.wires.far).last?.acknowledgement == 1)
        bench.loop.run(for: .seconds(10))
        #expect(Bench.packets(bench.wires.near).filter(\.isReliable).count == 1)
    }

    @Test(
        "a megabyte each way arrives whole, once and in order where one octet in a thousand is lost and one is corrupted"
    )
    func aMegabyteOverALossyLine() {
        let seed: UInt64 = 1
        let bench = Bench(seed: seed)
        for wire in [bench.wires.near, bench.wires.far] { wire.oneIn = 1_000 }
        let count = 4_000
        let (down, up) = (RandomSource(seed: seed), RandomSource(seed: seed + 7))
        let (sentDown, sentUp) = ((0..<count).map { acl($0, down) }, (0..<count).map { acl($0, up) })
        var next = 0
        // As many in flight as a host with credits sends.
        while next < count || bench.toHost.count < count || bench.toController.count < count {
            while next < count, next < min(bench.toHost.count, bench.toController.count) + 16 {
                bench.host.send(sentDown[next])
                bench.controller?.send(sentUp[next])
                next += 1
            }
            bench.loop.run(for: .milliseconds(20))
            guard bench.closures.isEmpty, bench.loop.now < .zero + .seconds(3_600) else { break }
        }
        #expect(bench.toController == sentDown && bench.toHost == sentUp && bench.closures.isEmpty)
        #expect(bench.host.damagedFrames > 100 && (bench.controller?.damagedFrames ?? 0) > 100)
    }

    @Test("no more reliable packets are in flight than the peer's window allows")
    func theWindow() {
        let bench = Bench()
        bench.loop.run(for: .milliseconds(600))
        let before = bench.wires.near.sent.count
        bench.wires.far.isCut = true
        for number in 0..<10 { bench.host.send(acl(number, bench.random, length: 10)) }
        bench.loop.run(for: .milliseconds(200))
        let sent = Bench.packets(bench.wires.near, after: before).filter(\.isReliable)
        #expect(sent.map(\.sequence) == [0, 1, 2, 3] && sent.allSatisfy(\.isChecked))
        bench.wires.far.isCut = false
        bench.loop.run(for: .seconds(1))
        #expect(bench.toController.map { $0.bytes[0] } == (0..<10).map { UInt8($0) })
    }

    @Test("a silent peer is reported after ten seconds during start-up, and after five once active")
    func nobodyIsThere() {
        let alone = Bench(hasController: false)
        alone.loop.run(for: .milliseconds(9_900))
        #expect(alone.closures.isEmpty)
        alone.loop.run(for: .milliseconds(200))
        #expect(alone.closures.count == 1 && "\(alone.closures)".contains("baud rate"))
        let bench = Bench()
        bench.loop.run(for: .milliseconds(600))
        bench.wires.far.isCut = true
        bench.host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        bench.loop.run(for: .milliseconds(4_900))
        #expect(bench.closures.isEmpty)
        bench.loop.run(for: .milliseconds(200))
        #expect(bench.closures == [.failed(reason: "no packet was acknowledged for five seconds")])
        // The transport has given up.
        let count = bench.wires.near.sent.count
        bench.loop.run(for: .seconds(60))
        #expect(bench.wires.near.sent.count == count && bench.closures.count == 1)
    }

    @Test("a controller waits for its host, however late the host starts")
    func aHostThatComesLate() {
        let bench = Bench(hasController: false)
        let controller = ThreeWireTransport(bench.wires.far, waitsForPeer: true, loop: bench.loop)
        var received: [HCIPacket] = []
        controller.onReceive = { received.append($0) }
        bench.host.close()
        bench.loop.run(for: .seconds(3_600))
        bench.wires.near.reopen()
        let host = ThreeWireTransport(bench.wires.near, loop: bench.loop)
        host.send(HCIPacket(.command, [0x03, 0x0C, 0x00]))
        bench.loop.run(for: .seconds(1))
        #expect(received == [HCIPacket(.command, [0x03, 0x0C, 0x00])])
    }

    @Test("Core Vol 4 Part D 8.4: a controller that restarts closes the transport")
    func theControllerBeginsAnew() {
        let bench = Bench()
        bench.loop.run(for: .milliseconds(600))
        bench.controller?.close()
        bench.begin()
        bench.loop.run(for: .milliseconds(300))
        #expect(bench.closures == [.failed(reason: "the controller has restarted the link")])
    }

    @Test(
        "Core Vol 4 Part D 8.8: a sleeping end is woken every 50 ms until it answers, and then receives the queued packets in order"
    )
    func anEndThatSleeps() {
        let bench = Bench()
        bench.loop.run(for: .milliseconds(600))
        bench.controller?.sleep()
        bench.loop.run(for: .milliseconds(10))
        let before = bench.wires.near.sent.count
        bench.wires.far.isCut = true
        for number in 0..<3 { bench.host.send(acl(number, bench.random, length: 5)) }
        bench.loop.run(for: .milliseconds(220))
        let said = Bench.packets(bench.wires.near, after: before).map(\.payload)
        #expect(said == [[UInt8]](repeating: ThreeWireMessage.wakeUp.payload, count: 5))
        bench.wires.far.isCut = false
        bench.loop.run(for: .milliseconds(200))
        #expect(bench.toController.map { $0.bytes[0] } == [0, 1, 2] && bench.closures.isEmpty)
    }

    @Test("AB-H02: packets before the link is up, out of order, or with a false acknowledgement change nothing")
    func whatCannotBe() {
        var machine = ThreeWireMachine(own: ThreeWireConfiguration(window: 4, isChecked: true))
        _ = machine.handle(.opened)
        var event = ThreeWirePacket(.event, [0x0E, 0])
        event.isReliable = true
        #expect(machine.handle(.received(event)).isEmpty && machine.handle(.receivedAll).isEmpty)
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
            Issue.record("nothing is acknowledged")
            return
        }
        #expect(answer.kind == .acknowledgement && answer.acknowledgement == 1)
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
    func whatWaitsIsBounded() {
        let bench = Bench(hasController: false)
        for number in 0...ThreeWireMachine.maximumWaiting { bench.host.send(acl(number, bench.random, length: 1)) }
        #expect(bench.closures.isEmpty)
        bench.loop.run(for: .zero)
        #expect(bench.closures.count == 1)
    }
}
