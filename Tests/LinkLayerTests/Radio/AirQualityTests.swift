import EventLoops
import Testing

@testable import LinkLayer

@Suite struct AirQualityTests {
    /// The number of frames received out of 1,000, and how many of those are corrupted.
    private func exchange(_ air: Air, _ sender: RadioNode, _ receiver: RadioNode, channel: UInt8 = 37) -> (Int, Int) {
        let before = air.heard[receiver.id.number]?.count ?? 0
        receiver.listen(tuning(channel: channel))
        for index in 0..<1_000 {
            air.loop.schedule(after: .milliseconds(index)) { sender.send(frame(channel: channel)) }
        }
        air.loop.run(for: .seconds(2))
        receiver.sleep()
        let heard = (air.heard[receiver.id.number] ?? []).dropFirst(before)
        return (heard.count, heard.count(where: \.isCorrupted))
    }

    @Test func lossAndCorruptionDifferByDirection() {
        let air = Air()
        let (a, b) = (air.node(), air.node(1))
        air.radio.setQuality(AirQuality(lossRate: 0.3), from: a, to: b)
        air.radio.setQuality(AirQuality(corruptionRate: 0.3), from: b, to: a)
        let (forth, back) = (exchange(air, a, b), exchange(air, b, a))
        #expect((650...750).contains(forth.0))
        #expect(forth.1 == 0)
        #expect(back.0 == 1_000)
        #expect((250...350).contains(back.1))
        air.radio.setQuality(nil, from: a, to: b)
        #expect(exchange(air, a, b) == (1_000, 0))
    }

    @Test func lossAndCorruptionDifferByChannel() {
        let air = Air {
            $0.lossRate = 0.1
            $0.channelQuality = [38: AirQuality(lossRate: 1), 39: AirQuality(corruptionRate: 1)]
        }
        let (a, b) = (air.node(), air.node(1))
        #expect((850...950).contains(exchange(air, a, b, channel: 37).0))
        #expect(exchange(air, a, b, channel: 38).0 == 0)
        #expect(exchange(air, a, b, channel: 39) == (1_000, 1_000))
    }

    @Test func theMostSpecificCounts() {
        let air = Air {
            $0.lossRate = 1
            $0.channelQuality = [5: AirQuality(corruptionRate: 1)]
        }
        let (a, b, c) = (air.node(), air.node(1), air.node(2))
        air.radio.setQuality(AirQuality(), from: a, to: b)
        air.radio.setQuality(AirQuality(lossRate: 1), from: a, to: b, channel: 6)
        #expect(exchange(air, a, c) == (0, 0))
        #expect(exchange(air, a, c, channel: 5) == (1_000, 1_000))
        #expect(exchange(air, a, b) == (1_000, 0))
        #expect(exchange(air, a, b, channel: 5) == (1_000, 0))
        #expect(exchange(air, a, b, channel: 6) == (0, 0))
        air.radio.setQuality(nil, from: a, to: b, channel: 6)
        #expect(exchange(air, a, b, channel: 6) == (1_000, 0))
    }

    @Test func attenuationWeakensOneDirection() {
        let air = Air()
        let (a, b) = (air.node(), air.node(1))
        air.radio.setQuality(AirQuality(attenuation: 20), from: a, to: b)
        #expect(exchange(air, a, b) == (1_000, 0))
        #expect(exchange(air, b, a) == (1_000, 0))
        #expect(air.heard[1]?.first?.rssi == -60 && air.heard[0]?.first?.rssi == -40)
        air.radio.setQuality(AirQuality(attenuation: 60), from: a, to: b)
        #expect(exchange(air, a, b) == (0, 0))
    }

    @Test func oneSeedHasTheSameLosses() {
        func losses(seed: UInt64) -> (Int, Int) {
            let air = Air(seed: seed) {
                $0.lossRate = 0.2
                $0.corruptionRate = 0.2
            }
            let (a, b) = (air.node(), air.node(1))
            return exchange(air, a, b)
        }
        #expect(losses(seed: 1) == losses(seed: 1))
        #expect(losses(seed: 1) != losses(seed: 2))
    }
}
