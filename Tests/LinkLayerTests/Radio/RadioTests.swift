import EventLoops
import Testing

@testable import LinkLayer

@Suite struct RadioTests {
    @Test(arguments: [(1.0, -40), (2.0, -46), (10.0, -60), (100.0, -80), (0.0, 0)])
    func strengthFallsWithTheDistance(metres: Double, rssi: Int8) {
        let air = Air()
        let (sender, receiver) = (air.node(), air.node(metres))
        receiver.listen(tuning())
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[1]?.map(\.rssi) == [rssi])
    }

    @Test(arguments: [
        (RadioPHY.le1M, 562.0, 563.0), (.le2M, 398.0, 399.0), (.codedS2, 891.0, 892.0), (.codedS8, 1_412.0, 1_413.0),
    ])
    func sensitivityEndsTheRange(phy: RadioPHY, near: Double, far: Double) {
        let air = Air()
        let (sender, inside, outside) = (air.node(), air.node(near), air.node(far))
        inside.listen(tuning(phy.modulation))
        outside.listen(tuning(phy.modulation))
        sender.send(frame(phy: phy))
        air.loop.run(for: .seconds(1))
        #expect(air.heard[1]?.count == 1)
        #expect(air.heard[2] == nil)
    }

    @Test func aFrameArrivesAtItsEndAndTellsItsStart() {
        let air = Air()
        let (sender, receiver) = (air.node(), air.node(1))
        var events: [String] = []
        receiver.onFrameStart = { events.append("start \(air.loop.now.microseconds)") }
        receiver.onFrame = { events.append("frame \($0.start.microseconds) \(air.loop.now.microseconds)") }
        sender.onSent = { events.append("sent \(air.loop.now.microseconds)") }
        receiver.listen(tuning())
        air.loop.schedule(after: .microseconds(100)) { sender.send(frame()) }
        air.loop.run(for: .seconds(1))
        #expect(events == ["start 100", "sent 244", "frame 100 244"])
    }

    @Test(arguments: [
        tuning(channel: 38), tuning(address: 1), tuning(.le2M), tuning(.coded),
    ])
    func anotherSettingHearsNothing(other: RadioTuning) {
        let air = Air()
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(other)
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard.isEmpty)
    }

    @Test func anotherCRCInitLooksCorrupted() {
        let air = Air()
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(tuning(crc: 1))
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[1]?.map(\.isCorrupted) == [true])
    }

    @Test(arguments: [(-1, false), (0, true), (1, true), (143, true)])
    func partlyReceivedFramesAreLost(microsecond: Int, isMissed: Bool) {
        // Tuning in late and tuning out early both miss the frame, whose whole length is 144 us.
        let late = Air()
        let (sender, receiver) = (late.node(), late.node(1))
        late.loop.schedule(after: .microseconds(10)) { sender.send(frame()) }
        late.loop.schedule(after: .microseconds(10 + microsecond)) { receiver.listen(tuning()) }
        late.loop.run(for: .seconds(1))
        #expect(late.heard.isEmpty == isMissed)

        let early = Air()
        let (other, leaver) = (early.node(), early.node(1))
        leaver.listen(tuning())
        early.loop.schedule(after: .microseconds(10)) { other.send(frame()) }
        early.loop.schedule(after: .microseconds(10 + 144 - microsecond)) { leaver.sleep() }
        early.loop.run(for: .seconds(1))
        #expect(early.heard.isEmpty == (microsecond >= 0))
    }

    // A disturber of equal strength corrupts the frame that the receiver locked on to; a much stronger frame survives.
    @Test(arguments: [(1.0, true), (2.0, true), (3.0, false), (50.0, false)])
    func capture(disturberAt metres: Double, isCorrupted: Bool) {
        let air = Air()
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(metres))
        receiver.listen(tuning())
        sender.send(frame())
        air.loop.schedule(after: .microseconds(50)) { disturber.send(frame(octets: 30)) }
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [isCorrupted])
    }

    @Test func aFrameDrownsInWhatIsOnTheChannelAlready() {
        let air = Air()
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(1))
        disturber.send(frame(address: 3, octets: 30))
        receiver.listen(tuning())
        air.loop.schedule(after: .microseconds(50)) { sender.send(frame()) }
        air.loop.run(for: .seconds(1))
        #expect(air.heard.isEmpty)
    }

    @Test func otherChannelsDoNotDisturb() {
        let air = Air()
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(1))
        receiver.listen(tuning())
        sender.send(frame())
        disturber.send(frame(channel: 38))
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [false])
    }

    @Test func lossIsAsOftenAsAskedFor() {
        let air = Air {
            $0.lossRate = 0.3
            $0.corruptionRate = 0.1
        }
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(tuning())
        for index in 0..<10_000 { air.loop.schedule(after: .milliseconds(index)) { sender.send(frame()) } }
        air.loop.run(for: .seconds(11))
        let heard = air.heard[1] ?? []
        #expect((6_850...7_150).contains(heard.count))
        #expect((600...800).contains(heard.count(where: \.isCorrupted)))
    }

    @Test func lossMayBeOneWay() {
        let air = Air()
        let (a, b) = (air.node(), air.node(1))
        air.radio.setQuality(AirQuality(lossRate: 1), from: a, to: b)
        b.listen(tuning())
        a.send(frame())
        air.loop.run(for: .milliseconds(1))
        a.listen(tuning())
        b.send(frame())
        air.loop.run(for: .milliseconds(1))
        #expect(air.heard[1] == nil)
        #expect(air.heard[0]?.count == 1)
    }

    @Test func airTimeIsAccountedFor() {
        let air = Air()
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(tuning())
        air.loop.run(for: .microseconds(100))
        sender.send(frame())
        air.loop.run(for: .microseconds(200))
        receiver.sleep()
        air.loop.run(for: .microseconds(200))
        #expect(sender.airTime == .init(sending: 144, listening: 0, framesSent: 1, framesReceived: 0))
        #expect(receiver.airTime == .init(sending: 0, listening: 300, framesSent: 0, framesReceived: 1))
        #expect(sender.breakdown.sendingByPHY == SIMD4(144, 0, 0, 0) && sender.breakdown.sendingByPower[0] == 144)
        #expect(receiver.breakdown.listeningByModulation == SIMD4(300, 0, 0, 0) && receiver.breakdown.listens == 1)
    }

    @Test("transmit powers are told apart up to a limit; all further ones count for the last of them")
    func powersAreBounded() {
        let air = Air()
        let sender = air.node()
        for power in [Double.nan, .infinity] + (1...20).map(Double.init) {
            sender.send(frame(), power: power)
            air.loop.run(for: .milliseconds(1))
        }
        #expect(sender.powers == [0, 127, 1, 2, 3, 4, 5, 6])
        #expect(sender.breakdown.sendingByPower.wrappedSum() == sender.airTime.sending)
        #expect(sender.breakdown.sendingByPower[7] == 15 * 144)
    }

    // Unslotted contention at equal strength: a frame survives with probability exp(-2 (N-1) r T).
    @Test(arguments: [(20, 0.873), (100, 0.49)])
    func contention(advertisers: Int, survival: Double) {
        let air = Air()
        let receiver = air.node()
        receiver.listen(tuning())
        let random = RandomSource(seed: 9)
        let count = 200
        for _ in 0..<advertisers {
            let sender = air.node(1)
            for round in 0..<count {
                let time = Duration.microseconds(105_000 * round + Int(random.below(105_000)))
                air.loop.schedule(after: time) { sender.send(frame(octets: 39)) }
            }
        }
        air.loop.run(for: .seconds(30))
        let good = air.heard[0]?.count { !$0.isCorrupted } ?? 0
        let rate = Double(good) / Double(advertisers * count)
        #expect(abs(rate - survival) < 0.03, "\(rate)")
    }
}
