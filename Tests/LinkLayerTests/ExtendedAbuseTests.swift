import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// An attacker that sends arbitrary extended advertising PDUs, one after another.
final class ExtendedAttacker {
    let node: RadioNode
    let address = BluetoothAddress(0xBAD, kind: .publicDevice)
    private let world: LinkLayerWorld

    init(_ world: LinkLayerWorld) {
        self.world = world
        node = world.radio.add(at: Position(y: 1))
    }

    /// Sends octets on an advertising channel after a delay in microseconds.
    func send(_ pdu: [UInt8], channel: UInt8, after microseconds: Int64 = 0, phy: RadioPHY = .le1M) {
        world.loop.schedule(after: .microseconds(microseconds)) { [unowned self] in
            node.send(.advertising(pdu, channel: channel, phy: phy))
        }
    }

    /// A PDU with an AuxPtr.
    func pdu(
        _ mode: ExtendedAdvertisement.Mode = .nonConnectable,
        to channel: UInt8? = nil,
        offset: Int64 = 3_000,
        phy: LEPHY = .le1M,
        data: PacketBuffer = [],
        info: AdvertisingDataInfo? = AdvertisingDataInfo(set: 1, data: 1),
        advertiser: BluetoothAddress? = nil
    ) -> [UInt8] {
        var header = ExtendedHeader()
        header.advertiser = advertiser
        header.info = info
        header.pointer = channel.map {
            AuxiliaryPointer(channel: $0, offset: offset, phy: phy, isPrecise: true)
        }
        return AdvertisingPDU.extended(.init(mode: mode, extended: header, data: data)).encoded()
    }

    /// Sends ADV_EXT_IND repeatedly, each followed by what `tail` sends; `tail` receives its number.
    func flood(every interval: Int64, times: Int, _ tail: @escaping (Int) -> Void) {
        for number in 0..<times {
            world.loop.schedule(after: .microseconds(Int64(number) * interval)) { tail(number) }
        }
    }
}

@Suite struct ExtendedAbuseTests {
    private func setUp() -> (LinkLayerWorld, TestHost, ExtendedAttacker) {
        let world = LinkLayerWorld()
        let victim = world.host()
        victim.scanExtended(.active)
        return (world, victim, ExtendedAttacker(world))
    }

    /// Checks that the victim still receives an honest advertiser, has stopped following chains, and keeps no state.
    private func checkAlive(_ world: LinkLayerWorld, _ victim: TestHost) {
        let honest = world.host(at: 2)
        honest.advertiseExtended(data: [0x55])
        victim.forget()
        world.run(.seconds(2))
        #expect(victim.reports.contains { $0.address == honest.address && $0.data == [0x55] })
        #expect(victim.controller.scanner.waitingTrails <= PrimaryListener.maximumTrails)
    }

    // An endless chain whose PDUs carry no data.
    @Test(arguments: [0, 1, 200])
    func aChainWithoutEnd(octets: Int) {
        let (world, victim, attacker) = setUp()
        attacker.send(attacker.pdu(to: 5), channel: 37)
        for number in 0..<500 as Range<Int64> {
            let advertiser = number == 0 ? attacker.address : nil
            let pdu = attacker.pdu(to: 5, data: sampleData(octets), advertiser: advertiser)
            attacker.send(pdu, channel: 5, after: 3_000 * (number + 1))
        }
        world.run(.seconds(2))
        let reports = victim.wholeReports
        #expect(reports.count == 1)
        #expect(reports.first?.kind.dataStatus == .truncated)
        #expect((reports.first?.data.count ?? 0) <= 1_650)
        checkAlive(world, victim)
    }

    // Pointers to reserved channels and PHYs, into the PDU itself, and to nothing.
    @Test(
        arguments: [
            [37, 100, 0], [38, 100, 0], [63, 100, 0], [5, 100, 3 << 5], [5, 100, 7 << 5], [5, 0, 0], [5, 1, 0],
            [5, 4, 0],
            [0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func pointersToNowhere(octets: [UInt8]) throws {
        let (world, victim, attacker) = setUp()
        var header = ExtendedHeader()
        header.info = AdvertisingDataInfo(set: 1, data: 1)
        header.pointer = try AuxiliaryPointer(reading: PacketBuffer(octets))
        let pdu = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header)).encoded()
        attacker.flood(every: 1_000, times: 500) { _ in attacker.node.send(.advertising(pdu, channel: 37, phy: .le1M)) }
        world.run(.milliseconds(600))
        #expect(victim.reports.isEmpty)
        #expect(victim.controller.scanner.waitingTrails == 0)
        checkAlive(world, victim)
    }

    // Thousands of pointers to PDUs that never come, as far in the future as an offset allows.
    @Test func aFloodOfPointers() {
        let (world, victim, attacker) = setUp()
        var most = 0
        attacker.flood(every: 200, times: 10_000) { number in
            let pdu = attacker.pdu(to: UInt8(number % 37), offset: 500 + Int64(number * 7_919 % 2_400_000))
            attacker.node.send(.advertising(pdu, channel: 37, phy: .le1M))
            most = max(most, victim.controller.scanner.waitingTrails)
        }
        world.run(.seconds(2))
        #expect(most == PrimaryListener.maximumTrails)
        world.run(.seconds(3))
        #expect(victim.controller.scanner.waitingTrails == 0)
        checkAlive(world, victim)
    }

    // PDUs that do not belong to the advertisement: another ADI, another mode, another address, a legacy PDU.
    @Test(arguments: 0..<6)
    func theWrongAuxiliaryPDU(kind: Int) {
        let (world, victim, attacker) = setUp()
        let other = BluetoothAddress(7, kind: .publicDevice)
        let wrong: [[UInt8]] = [
            attacker.pdu(data: [1], info: AdvertisingDataInfo(set: 2, data: 1), advertiser: attacker.address),
            attacker.pdu(data: [1], info: AdvertisingDataInfo(set: 1, data: 2), advertiser: attacker.address),
            attacker.pdu(.scannable, advertiser: attacker.address),
            attacker.pdu(.connectable, advertiser: attacker.address),
            AdvertisingPDU.nonConnectable(.init(advertiser: other, data: [1])).encoded(),
            [0x07, 3, 0x3F, 0xFF, 0],
        ]
        attacker.flood(every: 10_000, times: 50) { _ in
            attacker.send(attacker.pdu(to: 9), channel: 37)
            attacker.send(wrong[kind], channel: 9, after: 3_000)
        }
        world.run(.seconds(1))
        #expect(victim.reports.isEmpty)
        checkAlive(world, victim)
    }

    // When another set continues the chain, their data are not mixed.
    @Test func aChainOfTwoSets() {
        let (world, victim, attacker) = setUp()
        attacker.send(attacker.pdu(to: 9), channel: 37)
        attacker.send(attacker.pdu(to: 9, data: [1, 2], advertiser: attacker.address), channel: 9, after: 3_000)
        let stranger = attacker.pdu(data: [3, 4], info: AdvertisingDataInfo(set: 1, data: 99))
        attacker.send(stranger, channel: 9, after: 6_000)
        world.run(.seconds(1))
        #expect(victim.reports.map(\.data) == [[1, 2]])
        #expect(victim.reports.map(\.kind.dataStatus) == [.truncated])
    }

    // Connectable advertising has no chain, so the pointer is not followed.
    @Test(arguments: [ExtendedAdvertisement.Mode.connectable, .scannable])
    func aChainWhereThereIsNone(mode: ExtendedAdvertisement.Mode) {
        let (world, victim, attacker) = setUp()
        attacker.send(attacker.pdu(mode, to: 9), channel: 37)
        let auxiliary = attacker.pdu(mode, to: 9, data: [1], advertiser: attacker.address)
        attacker.send(auxiliary, channel: 9, after: 3_000)
        world.run(.seconds(1))
        #expect(victim.reports.map(\.kind.dataStatus) == [.complete])
        #expect(victim.controller.scanner.waitingTrails == 0)
        checkAlive(world, victim)
    }

    // AB-L03 on the secondary channels: impossible connection parameters are rejected, and advertising goes on.
    @Test(
        "AB-L03: connections with impossible parameters are not begun on secondary channels",
        arguments: AbuseTests.impossible.indices
    )
    func impossibleConnectionsOnSecondaryChannels(index: Int) {
        let world = LinkLayerWorld()
        let victim = world.host()
        let attacker = ExtendedAttacker(world)
        victim.advertiseExtended(.connectable)
        var data = ConnectionData()
        data.accessAddress = 0x5065_4BB1
        (data.windowSize, data.windowOffset, data.interval, data.timeout, data.hop) = (1, 0, 24, 300, 5)
        AbuseTests.impossible[index].1(&data)
        let request = AdvertisingPDU.connect(
            .init(initiator: attacker.address, advertiser: victim.address, link: data, knowsAlgorithm2: false)
        ).encoded()
        var requests = 0
        world.sniff { frame in
            guard frame.sender == victim.controller.node.id, frame.frame.channel < 37 else { return }
            requests += 1
            attacker.send(request, channel: frame.frame.channel, after: frame.frame.airTimeMicroseconds + 150)
        }
        world.run(.seconds(2))
        #expect(requests > 50, "advertising goes on")
        #expect(victim.connections.isEmpty && victim.controller.links.isEmpty, "\(AbuseTests.impossible[index].0)")
        #expect(victim.events(LEAdvertisingSetTerminated.self).isEmpty)
    }

    // AB-L10: each request is answered, and causes an event.
    @Test("AB-L10: a flood of auxiliary scan requests leaves the advertiser connectable")
    func auxiliaryScanRequestFlood() {
        let world = LinkLayerWorld()
        let (victim, honest) = (world.host(), world.host(at: 2))
        let attacker = ExtendedAttacker(world)
        victim.advertiseExtended(.scannable, scanResponse: sampleData(1_650)) { $0.notifiesScanRequests = true }
        victim.advertiseExtended(.connectable, set: 1)
        let request = AdvertisingPDU.scanRequest(.init(scanner: attacker.address, advertiser: victim.address)).encoded()
        world.sniff { frame in
            guard frame.sender == victim.controller.node.id, frame.frame.channel < 37,
                case .extended(let pdu)? = try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu)),
                pdu.mode == .scannable
            else { return }
            attacker.send(request, channel: frame.frame.channel, after: frame.frame.airTimeMicroseconds + 150)
        }
        honest.connectExtended(to: victim.address)
        world.run(.seconds(10))
        #expect(honest.connections.map(\.status) == [.success])
        #expect(victim.events(DisconnectionComplete.self).isEmpty)
        let asked = victim.events(LEScanRequestReceived.self)
        #expect(asked.count > 100)
        #expect(asked.allSatisfy { $0.scannerAddress == attacker.address && $0.set == 0 })
    }

    // Noise in the shape of extended PDUs, on the channels being scanned.
    @Test func randomFramesDoNoHarm() {
        let (world, victim, attacker) = setUp()
        let random = RandomSource(seed: 17)
        victim.advertiseExtended(.connectable)
        victim.advertiseExtended(.scannable, set: 1, scanResponse: sampleData(400))
        attacker.flood(every: 400, times: 20_000) { number in
            let node = victim.controller.node
            guard case .listening(let tuning, _) = node.state else { return }
            let kinds: [UInt8] = [7, 7, 7, 8, 3, 5, 0xC7]
            let payload = random.bytes(Int(random.below(60)))
            let first = kinds[number % kinds.count]
            attacker.node.send(
                .advertising([first, UInt8(payload.count)] + payload, channel: tuning.channel, phy: .le1M)
            )
        }
        world.run(.seconds(9))
        #expect(victim.controller.links.isEmpty)
        checkAlive(world, victim)
    }
}
