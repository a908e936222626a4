import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// Accounting of the air time of a controller's single radio, by link and purpose.
@Suite struct AirTimeTests {
    /// Expects the air time by use to add up to the radio's own account: nothing is lost or counted twice.
    private func expectComplete(_ host: TestHost, _ place: SourceLocation = #_sourceLocation) {
        let (node, uses) = (host.controller.node.airTime, host.controller.airTime.values)
        #expect(uses.reduce(0) { $0 + $1.sending } == node.sending, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.listening } == node.listening, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.framesSent } == node.framesSent, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.framesReceived } == node.framesReceived, sourceLocation: place)
    }

    /// The purposes for which a radio was used, with all link purposes merged.
    private func purposes(_ uses: [RadioUse: RadioNode.AirTime]) -> Set<RadioUse> {
        Set(uses.keys.map { if case .link(let handle, _) = $0 { .link(handle, .listening) } else { $0 } })
    }

    private func sending(_ handle: ConnectionHandle, in uses: [RadioUse: RadioNode.AirTime]) -> Int64 {
        LinkTraffic.allCases.reduce(0) { $0 + (uses[.link(handle, $1)]?.sending ?? 0) }
    }

    @Test("the air time of a radio is attributed to the link or the purpose that used it")
    func airTimeHasItsUse() throws {
        let world = LinkLayerWorld()
        let central = world.host()
        let peripherals = [world.host(at: 1), world.host(at: 1)]
        for peripheral in peripherals {
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: 40, timeout: 600)
            world.run(.seconds(3))
            let uses = peripheral.controller.airTime
            let handle = try #require(peripheral.controller.links.first).handle
            #expect(purposes(uses) == [.advertising(set: nil), .link(handle, .listening)])
            expectComplete(peripheral)
        }
        let handles = central.controller.links.map(\.handle)
        try #require(handles.count == 2)
        #expect(
            purposes(central.controller.airTime) == [
                .initiating, .link(handles[0], .listening), .link(handles[1], .listening),
            ]
        )
        expectComplete(central)

        let before = central.controller.airTime
        for _ in 0..<20 {
            central.send([UInt8](repeating: 7, count: 27), on: handles[0])
            world.run(.milliseconds(100))
        }
        let after = central.controller.airTime
        let used = handles.map { handle in
            sending(handle, in: after) - sending(handle, in: before)
        }
        // Forty events of 80 µs, twenty of which carry 27 octets more, of 8 µs each.
        #expect(used[1] > 0 && used[0] >= used[1] + 20 * 27 * 8 - 200 && used[0] <= used[1] + 20 * 31 * 8 + 200)
        #expect(before[.initiating] == after[.initiating])
        expectComplete(central)

        central.scan()
        world.run(.seconds(2))
        #expect(try #require(central.controller.airTime[.scanning]).listening > 500_000)
        central.send(Disconnect(handle: handles[0], reason: .remoteUserTerminated))
        world.run(.seconds(2))
        let last = central.controller.airTime
        #expect(LinkTraffic.allCases.allSatisfy { last[.link(handles[0], $0)] == nil })
        let ended = LinkTraffic.allCases.reduce(0) { $0 + (last[.endedLinks($1)]?.sending ?? 0) }
        #expect(ended >= sending(handles[0], in: after))
        expectComplete(central)
    }
    @Test("within a link, data, empty PDUs, control PDUs and idle listening are counted separately at both ends")
    func trafficHasItsAccount() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        peripheral.advertise()
        central.connect(to: peripheral.address, interval: 40, timeout: 600)
        world.run(.seconds(3))
        let handles = try [central, peripheral].map { try #require($0.controller.links.first).handle }
        func used(_ traffic: LinkTraffic) -> [RadioNode.AirTime] {
            zip([central, peripheral], handles).map { $0.controller.airTime[.link($1, traffic)] ?? RadioNode.AirTime() }
        }
        func more(_ traffic: LinkTraffic, _ body: () -> Void) -> [RadioNode.AirTime] {
            let before = used(traffic)
            body()
            return zip(used(traffic), before).map { now, before in
                RadioNode.AirTime(
                    sending: now.sending - before.sending,
                    listening: now.listening - before.listening,
                    framesSent: now.framesSent - before.framesSent,
                    framesReceived: now.framesReceived - before.framesReceived
                )
            }
        }
        // Each has 10 octets of preamble, access address, header and CRC, of 8 µs each; with 27 octets of payload that
        // is 296 µs.
        let data = more(.data) {
            for _ in 0..<5 { central.send([UInt8](repeating: 7, count: 27), on: handles[0]) }
            world.run(.seconds(1))
        }
        #expect(data[0] == RadioNode.AirTime(sending: 5 * 296, framesSent: 5))
        #expect(data[1] == RadioNode.AirTime(listening: 5 * 296, framesReceived: 5))
        let idle = more(.empty) { world.run(.seconds(1)) }
        #expect(idle[0].framesSent == 20 && idle[0].sending == 20 * 80 && idle[0].listening == 20 * 80)
        #expect(idle[1].framesSent == 20 && idle[1].sending == 20 * 80 && idle[1].listening == 20 * 80)
        let control = more(.control) {
            central.send(LEReadRemoteFeatures(handle: handles[0]))
            world.run(.seconds(1))
        }
        // LL_FEATURE_REQ and LL_FEATURE_RSP, of 9 octets each.
        let exchange = RadioNode.AirTime(sending: 152, listening: 152, framesSent: 1, framesReceived: 1)
        #expect(control == [exchange, exchange])
        // Window widening of the peripheral, and the time between frames.
        let listening = used(.listening)
        #expect(listening.allSatisfy { $0.listening > 0 && $0.sending == 0 && $0.framesSent == 0 })
        expectComplete(central)
        expectComplete(peripheral)

        // A frame that cannot be decoded counts as listening, since its purpose is unknown.
        let read = used(.empty)
        let lost = more(.listening) {
            world.radio.onSend = { $0.crcInit ^= 1 }
            world.run(.seconds(1))
        }
        #expect(lost.allSatisfy { $0.framesReceived >= 15 && $0.framesSent == 0 })
        #expect(zip(used(.empty), read).allSatisfy { $0.framesReceived == $1.framesReceived })
        expectComplete(central)
        expectComplete(peripheral)
    }

    /// Expects what each use has spent to add up to the radio's own account, by PHY and power too.
    private func expectDivided(_ host: TestHost, _ place: SourceLocation = #_sourceLocation) {
        let (node, times) = (host.controller.node, host.controller.radioTime.values)
        let total = times.reduce(into: RadioTime()) { $0.add($1, since: RadioTime()) }
        #expect(total.air == node.airTime, sourceLocation: place)
        #expect(total.breakdown == node.breakdown, sourceLocation: place)
        let (air, parts) = (total.air, total.breakdown)
        #expect(parts.sendingByPHY.wrappedSum() == air.sending, sourceLocation: place)
        #expect(parts.sendingByPower.wrappedSum() == air.sending, sourceLocation: place)
        #expect(parts.listeningByModulation.wrappedSum() == air.listening, sourceLocation: place)
    }

    @Test("the radio time of a link is divided by PHY and power, with its events and the idle time in them")
    func timeIsDivided() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        peripheral.advertise()
        central.connect(to: peripheral.address, interval: 40, timeout: 600)
        world.run(.seconds(3))
        let handle = try #require(central.controller.links.first).handle
        func spent(_ body: () -> Void) -> RadioTime {
            func now() -> RadioTime {
                LinkTraffic.allCases.reduce(into: RadioTime()) {
                    $0.add(central.controller.radioTime[.link(handle, $1)] ?? RadioTime(), since: RadioTime())
                }
            }
            let before = now()
            body()
            var difference = RadioTime()
            difference.add(now(), since: before)
            return difference
        }
        // Twenty events a second, each with one empty PDU of 80 µs either way, and the inter frame space between them.
        let slow = spent { world.run(.seconds(1)) }
        #expect(slow.events == 20 && slow.breakdown.listens == 20)
        #expect(slow.breakdown.sendingByPHY == SIMD4<Int64>(20 * 80, 0, 0, 0))
        #expect(slow.breakdown.sendingByPower[0] == 20 * 80 && central.controller.node.powers.count == 1)
        #expect(slow.idle == 0 && slow.air.listening >= 20 * (80 + 150))
        central.setPHY(handle, .le2M, .s2)
        world.run(.seconds(2))
        let fast = spent { world.run(.seconds(1)) }
        #expect(fast.breakdown.sendingByPHY == SIMD4<Int64>(0, 20 * 44, 0, 0))
        #expect(fast.breakdown.listeningByModulation[0] == 0 && fast.breakdown.listeningByModulation[1] > 20 * 44)
        expectDivided(central)
        expectDivided(peripheral)
    }

    @Test("the radio time of an ended link can be read before it is merged with that of others")
    func retiredLinkIsReported() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        peripheral.advertise()
        central.connect(to: peripheral.address, interval: 40, timeout: 600)
        world.run(.seconds(3))
        let handle = try #require(central.controller.links.first).handle
        var last: [RadioUse: RadioTime] = [:]
        central.controller.onLinkRetired = { [unowned central] ended in
            #expect(ended == handle)
            last = central.controller.radioTime
        }
        central.send(Disconnect(handle: handle, reason: .remoteUserTerminated))
        world.run(.seconds(2))
        for traffic in LinkTraffic.allCases {
            #expect(last[.link(handle, traffic)] == central.controller.radioTime[.endedLinks(traffic)])
        }
        expectDivided(central)
    }
}
