import BluetoothTypes
import Foundation
import HCI
import HCIHost
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// The link information that a manager receives, field by field.
@Suite struct LinkFactsTests {
    private func facts(_ events: [Event]) -> [LinkFacts] {
        events.compactMap { event in
            switch event {
            case .central(.peer(_, .linkInformation(let facts))): facts
            case .central(.answered(_, number: 9, .linkInformation(let facts))): facts
            default: nil
            }
        }
    }

    private func watch(_ isWatched: Bool, _ pair: ConnectedPair) -> Request {
        .central(.peer(pair.peer, .link(.watchLink(isWatched))))
    }

    @Test(
        "behaviour 15.4: link information is reported in microseconds, milliseconds and octets, for each direction"
    )
    func numbers() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.world.run(.seconds(2))
        pair.central.take()
        pair.central.send(watch(true, pair))
        let handle = try #require(pair.phone.system.links.all.first?.connection.handle)
        func report(_ event: some HCIEvent) { pair.phone.controller.transport.send(HCIPacket(event)) }
        pair.world.run(.milliseconds(1))
        report(LEDataLengthChange(handle: handle, maxTxOctets: 200, maxTxTime: 1_712, maxRxOctets: 100, maxRxTime: 912))
        pair.world.run(.milliseconds(1))
        report(LEPHYUpdateComplete(handle: handle, txPHY: .le2M, rxPHY: .coded))
        pair.world.run(.milliseconds(1))
        // Repeating the same values is no change.
        report(LEPHYUpdateComplete(handle: handle, txPHY: .le2M, rxPHY: .coded))
        pair.world.run(.milliseconds(1))
        var update = LEConnectionUpdateComplete()
        (update.handle, update.interval, update.latency, update.supervisionTimeout) = (handle, 40, 3, 500)
        report(update)
        pair.world.run(.milliseconds(1))
        var expected = LinkFacts()
        (expected.interval, expected.latency, expected.supervisionTimeout) = (30_000, 0, 720)
        (expected.txPHY, expected.rxPHY) = (1, 1)
        (expected.maxTxOctets, expected.maxRxOctets) = (27, 27)
        expected.mtu = pair.phone.system.configuration.preferredMTU
        var all = [expected]
        (expected.maxTxOctets, expected.maxRxOctets) = (200, 100)
        all.append(expected)
        (expected.txPHY, expected.rxPHY) = (2, 3)
        all.append(expected)
        (expected.interval, expected.latency, expected.supervisionTimeout) = (50_000, 3, 5_000)
        all.append(expected)
        #expect(facts(pair.central.take()) == all)
        pair.central.send(watch(false, pair))
        report(LEPHYUpdateComplete(handle: handle, txPHY: .le1M, rxPHY: .le1M))
        pair.world.run(.milliseconds(1))
        #expect(facts(pair.central.take()).isEmpty)
    }

    @Test(
        "behaviour 15.4: each step of link security is reported: encrypted, then bonded, and authenticated only if it is"
    )
    func security() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        bench.world.run(.seconds(1))
        var seen: [LinkFacts] = []
        let watch = Request.central(.peer(bench.peer, .link(.watchLink(true))))
        bench.app.send(watch)
        bench.world.run(.milliseconds(1))
        seen += facts(bench.app.take())
        bench.read(EnhancedBearerBench.secret)
        bench.world.run(.seconds(10))
        seen += facts(bench.app.take())
        let steps = seen.map { [$0.isEncrypted, $0.isBonded, $0.isAuthenticated] }
        #expect(steps == [[false, false, false], [true, false, false], [true, true, false]])
        #expect(seen.map(\.keySize) == [0, 16, 16])
    }

    @Test(
        "behaviour 15.4: a requested interval becomes parameters of the link, and a single limit stands for both",
        arguments: [
            (30_000, 60_000, 24, 48), (30_000, nil, 24, 24), (nil, 60_000, 48, 48), (60_000, 30_000, 48, 48),
        ] as [(Int?, Int?, UInt16, UInt16)]
    )
    func requests(shortest: Int?, longest: Int?, least: UInt16, most: UInt16) throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        var request = LinkPreference()
        (request.minimumInterval, request.maximumInterval) = (shortest, longest)
        (request.latency, request.supervisionTimeout) = (2, 4_000)
        pair.central.send(.central(.peer(pair.peer, .link(.preferLink(request)))))
        pair.world.run(.milliseconds(10))
        let asked = try #require(pair.phone.controller.lastConnectionUpdate)
        #expect(asked.intervalMin == least)
        #expect(asked.intervalMax == most)
        #expect(asked.maxLatency == 2)
        #expect(asked.supervisionTimeout == 400)
    }

    @Test("behaviour 15.4: a request for a PHY alone changes no other parameters")
    func aWishForAPHY() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        var request = LinkPreference()
        request.phy = 2
        pair.central.send(.central(.peer(pair.peer, .link(.preferLink(request)))))
        pair.world.run(.milliseconds(10))
        #expect(pair.phone.controller.commands.last == "LE Set PHY")
        #expect(pair.phone.controller.lastConnectionUpdate == nil)
    }

    @Test("a manager that prefers not to pair receives the peer's refusal, until it prefers to")
    func withoutPairing() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        var preference = LinkPreference()
        preference.pairs = false
        let prefer = { bench.app.send(.central(.peer(bench.peer, .link(.preferLink($0))))) }
        let isEncrypted = {
            bench.app.send(.central(.peer(bench.peer, .link(.watchLink(true)))))
            bench.world.run(.milliseconds(1))
            let isEncrypted = self.facts(bench.app.take()).last?.isEncrypted
            bench.app.send(.central(.peer(bench.peer, .link(.watchLink(false)))))
            return isEncrypted
        }
        // A later preference for an interval alone does not change that.
        for next in [preference, LinkPreference()] {
            prefer(next)
            bench.read(EnhancedBearerBench.secret)
            #expect(try bench.nextValue().value == nil)
            bench.world.run(.seconds(10))
            #expect(isEncrypted() == false)
        }
        preference.pairs = true
        prefer(preference)
        bench.read(EnhancedBearerBench.secret)
        bench.world.run(.seconds(10))
        #expect(isEncrypted() == true)
    }

    @Test("behaviour 15.18: the controller gets the documented radio timings")
    func radioTimes() throws {
        #expect(RadioTimes.scan.interval == .milliseconds(60))
        #expect(RadioTimes.scan.window == .milliseconds(30))
        #expect(RadioTimes.advertising.first == .milliseconds(20))
        #expect(RadioTimes.advertising.later == .microseconds(152_500))
        #expect(RadioTimes.fastAdvertising == .seconds(30))
        #expect(RadioTimes.connectionInterval == .milliseconds(30))
        let pair = try ConnectedPair()
        let sent = Sent(pair.phone.controller)
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.milliseconds(10))
        let scan = try #require(sent.last(LESetScanParameters.self))
        #expect(scan.scanInterval == 96)
        #expect(scan.scanWindow == 48)
        _ = try pair.connected()
        #expect(pair.phone.system.links.all.first?.connection.interval == 24)
    }

    /// The commands sent to a controller.
    private final class Sent {
        private var packets: [CommandPacket] = []

        init(_ controller: TestController) {
            let original = controller.transport.onReceive
            controller.transport.onReceive = { [weak self] packet in
                if let command = try? CommandPacket(reading: packet.bytes) { self?.packets.append(command) }
                original?(packet)
            }
        }

        func last<Command: HCICommand>(_ type: Command.Type) -> Command? {
            packets.last { $0.opcode == Command.opcode }.flatMap { try? Command(reading: $0.parameters) }
        }
    }
}
