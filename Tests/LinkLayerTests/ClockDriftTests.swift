import HCI
import Testing

@testable import LinkLayer

/// Inaccurate sleep clocks (Core Vol 6 Part B 4.2.2, 4.2.4): the receive window widens by the accuracy that both ends
/// declare.
@Suite struct ClockDriftTests {
    /// Two devices with a clock each.
    struct Clocks: Sendable, CustomTestStringConvertible {
        var declared: LEClockAccuracy
        var central: Double
        var peripheral: Double
        /// In units of 1.25 ms.
        var interval: UInt16
        var latency: UInt16
        var testDescription: String { "\(declared): \(central), \(peripheral), \(interval) units, latency \(latency)" }
    }

    private func pair(_ clocks: Clocks) throws -> Pair {
        try Pair(
            interval: clocks.interval,
            latency: clocks.latency,
            timeout: 3_200,
            central: { ($0.clockAccuracy, $0.clockDrift) = (clocks.declared, clocks.central) },
            peripheral: { ($0.clockAccuracy, $0.clockDrift) = (clocks.declared, clocks.peripheral) }
        )
    }

    @Test(arguments: [
        Clocks(declared: .ppm500, central: 500, peripheral: -500, interval: 800, latency: 0),
        Clocks(declared: .ppm500, central: -500, peripheral: 500, interval: 800, latency: 4),
        Clocks(declared: .ppm50, central: 50, peripheral: -50, interval: 800, latency: 9),
        Clocks(declared: .ppm50, central: -50, peripheral: 50, interval: 3_200, latency: 1),
        Clocks(declared: .ppm20, central: 20, peripheral: -20, interval: 400, latency: 0),
        Clocks(declared: .ppm20, central: -20, peripheral: 20, interval: 320, latency: 9),
    ])
    func withinWhatIsDeclaredALinkHoldsForHours(clocks: Clocks) throws {
        let pair = try pair(clocks)
        pair.world.run(.seconds(2 * 3_600))
        for host in [pair.central, pair.peripheral] { #expect(host.events(DisconnectionComplete.self).isEmpty) }
        pair.central.send([1], on: pair.centralHandle)
        pair.peripheral.send([2], on: pair.peripheralHandle)
        pair.world.run(.seconds(10))
        #expect(pair.peripheral.data.count == 1)
        #expect(pair.central.data.count == 1)
        // The link is not merely alive: hardly an event is missed.
        let air = pair.central.controller.node.airTime
        #expect(air.framesReceived * 10 * (Int(clocks.latency) + 1) >= air.framesSent * 9)
    }

    @Test(arguments: [
        Clocks(declared: .ppm20, central: 300, peripheral: -300, interval: 800, latency: 0),
        Clocks(declared: .ppm50, central: -400, peripheral: 400, interval: 800, latency: 0),
        Clocks(declared: .ppm100, central: 900, peripheral: 0, interval: 1_600, latency: 1),
    ])
    func beyondItTheLinkIsLost(clocks: Clocks) throws {
        let pair = try pair(clocks)
        pair.world.run(.seconds(3_600))
        #expect(pair.peripheral.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
        #expect(pair.central.events(DisconnectionComplete.self).map(\.reason) == [.connectionTimeout])
    }

    // A peripheral whose central declared a better clock accuracy uses a narrower window.
    @Test func theWindowFollowsTheDeclaredAccuracy() throws {
        let elapsed = Duration.seconds(1)
        #expect(ClockAccuracy.widening(.init(code: 0), .init(code: 0), since: elapsed) == 1_000 + 1 + 16)
        #expect(ClockAccuracy.widening(.init(code: 7), .init(code: 7), since: elapsed) == 40 + 1 + 16)
        #expect(ClockAccuracy.widening(.init(code: 5), .init(code: 1), since: elapsed) == 300 + 1 + 16)
        #expect(ClockAccuracy.widening(.init(code: 0), .init(code: 0), since: .seconds(Int64.max / 2)) > 0)
    }

    @Test(arguments: [true, false])
    func thePeersClockIsAskedFor(byCentral: Bool) throws {
        let pair = try Pair(central: { $0.clockAccuracy = .ppm20 }, peripheral: { $0.clockAccuracy = .ppm250 })
        let (asker, handle) =
            byCentral ? (pair.central, pair.centralHandle) : (pair.peripheral, pair.peripheralHandle)
        #expect(asker.send(LERequestPeerSCA(handle: handle)) == .success)
        pair.world.run(.seconds(1))
        let complete = asker.events(LERequestPeerSCAComplete.self)
        #expect(complete.map(\.status) == [.success])
        #expect(complete.map(\.accuracy) == [byCentral ? .ppm250 : .ppm20])
        #expect(pair.centralLink?.anchors.peerAccuracy.code == LEClockAccuracy.ppm250.rawValue)
    }
}
