import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Hostile traffic on the air: the victim and its honest links survive.
@Suite struct AbuseTests {
    /// A victim that advertises, and an attacker.
    private func setUp(
        _ configure: (inout VirtualControllerConfiguration) -> Void = { _ in }
    ) -> (LinkLayerWorld, TestHost, Attacker) {
        let world = LinkLayerWorld()
        let victim = world.host(configure)
        victim.advertise()
        return (world, victim, Attacker(world))
    }

    @Test("AB-L01: a data PDU with a reserved LLID is not delivered")
    func reservedLLID() {
        let (world, victim, attacker) = setUp()
        attacker.payloads = [(2, [1]), (0, [9, 9]), (0, []), (2, [2])]
        attacker.connect(to: victim)
        world.run(.seconds(1))
        #expect(victim.data.map(\.payload) == [[1], [2]])
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
    }

    // A PDU longer than the agreed maximum is handled like a wrong CRC, so it is never acknowledged.
    @Test("AB-L02: a data PDU longer than agreed is never acknowledged")
    func lengthAboveTheMaximum() {
        let (world, victim, attacker) = setUp()
        attacker.payloads = [(2, [UInt8](repeating: 1, count: 28)), (2, [2])]
        attacker.connect(to: victim)
        world.run(.seconds(1))
        #expect(victim.data.map(\.payload) == [[2]])
        #expect(attacker.answers.first?.header.nextExpected == false)
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
    }

    @Test(
        "AB-L02: a data PDU whose length differs from that on the air is not delivered",
        arguments: [0, 1, 9, 11, 27, 255] as [UInt8]
    )
    func lengthOtherThanOnTheAir(claimed: UInt8) {
        let (world, victim, attacker) = setUp()
        attacker.payloads = Array(repeating: (2, [UInt8](repeating: 1, count: 10)), count: 5)
        attacker.claimedLength = claimed
        attacker.connect(to: victim)
        world.run(.seconds(1))
        #expect(victim.data.isEmpty)
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
    }

    static let impossible: [(String, @Sendable (inout ConnectionData) -> Void)] = [
        ("interval 0", { $0.interval = 0 }), ("interval 5", { $0.interval = 5 }),
        ("interval 3201", { ($0.interval, $0.timeout) = (3_201, 3_200) }), ("timeout 0", { $0.timeout = 0 }),
        ("timeout too short", { ($0.interval, $0.timeout) = (80, 20) }), ("latency 500", { $0.latency = 500 }),
        ("hop 4", { $0.hop = 4 }), ("hop 17", { $0.hop = 17 }), ("hop 0", { $0.hop = 0 }),
        ("no channel", { $0.channelMap = .init(bits: 0) }), ("one channel", { $0.channelMap = .init(bits: 4) }),
        ("window 0", { $0.windowSize = 0 }), ("window 9", { $0.windowSize = 9 }),
        ("window above interval", { ($0.interval, $0.windowSize) = (6, 6) }),
        ("offset above interval", { $0.windowOffset = 25 }),
    ]

    @Test("AB-L03: connections with impossible parameters are not begun", arguments: impossible.indices)
    func impossibleConnections(index: Int) {
        let (world, victim, attacker) = setUp()
        Self.impossible[index].1(&attacker.data)
        attacker.connect(to: victim, once: false)
        world.run(.seconds(2))
        #expect(attacker.requests > 10, "advertising goes on")
        #expect(victim.events(LEEnhancedConnectionComplete.self).isEmpty, "\(Self.impossible[index].0)")
        #expect(victim.controller.links.isEmpty)
        #expect(victim.controller.advertiser.isEnabled)
    }

    static let impossibleChanges: [(String, ControlPDU, HCIStatus)] = {
        func update(_ change: (inout ConnectionUpdateIndication) -> Void) -> ControlPDU {
            var update = ConnectionUpdateIndication()
            (update.windowSize, update.interval, update.timeout, update.instant) = (1, 24, 300, 20)
            change(&update)
            return .connectionUpdate(update)
        }
        return [
            ("interval 0", update { $0.interval = 0 }, .invalidLinkLayerParameters),
            ("timeout 0", update { $0.timeout = 0 }, .invalidLinkLayerParameters),
            ("window above interval", update { $0.windowSize = 24 }, .invalidLinkLayerParameters),
            ("instant in the past", update { $0.instant = 65_530 }, .instantPassed),
            ("no channel", .channelMap(.init(map: .init(bits: 0), instant: 20)), .invalidLinkLayerParameters),
            ("one channel", .channelMap(.init(map: .init(bits: 8), instant: 20)), .invalidLinkLayerParameters),
            ("map in the past", .channelMap(.init(map: .all, instant: 65_530)), .instantPassed),
        ]
    }()

    @Test("AB-L04: an impossible connection update ends the link", arguments: impossibleChanges.indices)
    func changesThatCannotBe(index: Int) {
        let (name, pdu, reason) = Self.impossibleChanges[index]
        let (world, victim, attacker) = setUp()
        attacker.payloads = [(3, Array(pdu.encoded()))]
        attacker.connect(to: victim)
        world.run(.seconds(1))
        #expect(victim.events(DisconnectionComplete.self).map(\.reason) == [reason], "\(name)")
        #expect(victim.controller.links.isEmpty)
    }

    // Endless requests, several in each event; the attacker never acknowledges the answers.
    @Test("AB-L05: a flood of control PDUs leaves the link and its memory intact", arguments: [true, false])
    func floodOfControlPDUs(acknowledges: Bool) throws {
        let (world, victim, attacker) = setUp()
        let pdus: [ControlPDU] = [
            .featureRequest(.init([])), .lengthRequest(.init()), .phyRequest(.init(tx: .le2M, rx: .le2M)),
            .connectionParameterRequest(.init()), .pingRequest, .version(.init()), .lengthResponse(.init()),
            .phyResponse(.init()), .rejectExtended(.init(.lengthReq, .unspecifiedError)), .unknown(.init(.featureReq)),
        ]
        attacker.acknowledges = acknowledges
        attacker.repetitions = 8
        attacker.payloads = (0..<2_000).map { (3, Array(pdus[$0 % pdus.count].encoded())) }
        attacker.connect(to: victim)
        var mostWaiting = 0
        for _ in 0..<160 {
            world.run(.milliseconds(50))
            mostWaiting = max(mostWaiting, victim.controller.links.map(\.queue.controlCount).max() ?? 0)
        }
        // Requests that arrive faster than they can be answered are not accepted (AB-L09).
        #expect(mostWaiting <= TransmitQueue.maximumControlPDUs)
        #expect(acknowledges || mostWaiting == TransmitQueue.maximumControlPDUs)
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
        let link = try #require(victim.controller.links.first)
        #expect(link.control.requests.isEmpty)
        #expect(attacker.answers.count > 100)
    }

    // AB-L09: a PDU that finds the buffers full is not acknowledged, so the peer retransmits it.
    @Test("AB-L09: a PDU that finds no buffer is not acknowledged and is retransmitted")
    func backPressureByNESN() {
        var acknowledgement = Acknowledgement()
        let full = acknowledgement.receive(sequence: false, nextExpected: false, hasRoom: false)
        #expect(full == .init(isNew: false, isAcknowledged: false))
        #expect(!acknowledgement.nextExpected)
        let taken = acknowledgement.receive(sequence: false, nextExpected: false, hasRoom: true)
        #expect(taken == .init(isNew: true, isAcknowledged: false))
        let again = acknowledgement.receive(sequence: false, nextExpected: false, hasRoom: true)
        #expect(again == .init(isNew: false, isAcknowledged: false))
    }

    @Test("AB-L09: queued control PDUs are bounded")
    func controlPDUsAreBounded() {
        var queue = TransmitQueue()
        for _ in 0..<TransmitQueue.maximumControlPDUs {
            #expect(queue.hasRoom)
            queue.add(control: [0x13])
        }
        #expect(!queue.hasRoom)
    }

    @Test("AB-L10: a flood of scan requests does not keep an honest central out")
    func scanRequestFlood() throws {
        let (world, victim, attacker) = setUp()
        let honest = world.host(at: 2)
        victim.send(LESetAdvertisingEnable(isEnabled: false))
        victim.advertise()
        attacker.flood(victim)
        honest.connect(to: victim.address)
        world.run(.seconds(5))
        #expect(attacker.requests > 0)
        #expect(honest.events(LEEnhancedConnectionComplete.self).map(\.status) == [.success])
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
    }

    // Connections that begin and then fall silent: each one times out and releases its handle and memory, and the
    // honest link keeps its timing.
    @Test("AB-L10: handles and memory are released after a flood of connections")
    func connectFlood() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world, interval: 40, timeout: 300)
        let (victim, attacker) = (pair.peripheral, Attacker(world))
        victim.onEvent = { event in
            let isConnection = event.subevent == LEEnhancedConnectionComplete.subevent
            guard isConnection || event.code == DisconnectionComplete.eventCode else { return }
            world.loop.execute { victim.send(LESetAdvertisingEnable(isEnabled: true)) }
        }
        victim.advertise()
        attacker.data.interval = 80
        attacker.connect(to: victim, once: false)
        world.run(.seconds(60))
        let reasons = victim.events(DisconnectionComplete.self).map(\.reason)
        #expect(reasons.count > 50)
        #expect(reasons.allSatisfy { $0 == .connectionFailedToBeEstablished })
        #expect(victim.controller.links.count <= 2)
        #expect(pair.centralLink?.isEstablished == true)
        #expect(victim.controller.advertiser.isEnabled || victim.controller.links.count == 2)
        pair.central.send([1], on: pair.centralHandle)
        world.run(.seconds(1))
        #expect(victim.data.count == 1)
    }

    // Random noise: frames that are not PDUs are ignored.
    @Test func randomFramesDoNoHarm() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        let noise = world.radio.add(at: Position(y: 1))
        let random = RandomSource(seed: 5)
        pair.peripheral.advertise()
        pair.central.scan(.active)
        let data = try #require(pair.centralLink).parameters.data
        for step in 0..<20_000 {
            world.loop.schedule(after: .microseconds(step * 500)) {
                let isData = random.below(2) == 0
                noise.send(
                    RadioFrame(
                        channel: isData ? UInt8(random.below(37)) : UInt8(37 + random.below(3)),
                        accessAddress: isData ? data.accessAddress : AccessAddress.advertising,
                        crcInit: isData ? data.crcInit : AdvertisingPDU.crcInit,
                        phy: .le1M,
                        pdu: random.bytes(Int(random.below(40)))
                    )
                )
            }
        }
        world.run(.seconds(12))
        // A forged PDU may have ended the link, but both controllers still work.
        #expect(pair.central.send(Reset()) == .success)
        #expect(pair.peripheral.send(Reset()) == .success)
    }
}
