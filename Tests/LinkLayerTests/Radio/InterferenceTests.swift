import EventLoops
import Testing

@testable import LinkLayer

@Suite struct InterferenceTests {
    // Core Vol 6 Part B 1.4.1, table 1.2.
    @Test(arguments: [(0, 2_404), (10, 2_424), (11, 2_428), (36, 2_478), (37, 2_402), (38, 2_426), (39, 2_480)])
    func channelsHaveTheirFrequencies(index: UInt8, megahertz: Int) {
        #expect(RadioChannel.megahertz(index) == megahertz)
    }

    @Test func everyFrequencyIsOneChannels() {
        #expect(Set(RadioChannels.all.indices.map(RadioChannel.number)) == Set(0..<40))
        #expect(RadioChannels([40, 255]).indices.isEmpty)
        #expect(!RadioChannels.all.contains(40))
    }

    // Wi-Fi's usual channels 1, 6 and 11 leave the three advertising channels alone.
    @Test(
        arguments: [
            (1, Array(0...8)), (6, Array(11...20)), (11, Array(24...32)), (13, Array(29...36) + [39]),
        ] as [(Int, [UInt8])]
    )
    func wifiCoversItsChannel(channel: Int, covered: [UInt8]) {
        let source = Interference.wifi(channel: channel, share: 1)
        #expect(source.channels.indices == covered)
        #expect(source.power == 10)
    }

    /// The share of 2,000 frames of 144 microseconds that are received intact, and the share that is detected.
    private func survival(
        _ source: Interference,
        channel: UInt8 = 5,
        power: Double = 0,
        seed: UInt64 = 3
    ) -> (good: Double, noticed: Double) {
        let air = Air(seed: seed) { $0.interference = [source] }
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(tuning(channel: channel))
        for index in 0..<2_000 {
            air.loop.schedule(after: .microseconds(index * 1_237)) {
                sender.send(frame(channel: channel), power: power)
            }
        }
        air.loop.run(for: .seconds(4))
        let heard = air.heard[1] ?? []
        return (Double(heard.count { !$0.isCorrupted }) / 2_000, Double(heard.count) / 2_000)
    }

    @Test func aJammerSilencesItsChannelsAndNoOthers() {
        let jammer = Interference(power: 0, channels: RadioChannels(megahertz: 2_410...2_420))
        #expect(survival(jammer, channel: 5).noticed == 0)
        #expect(survival(jammer, channel: 20).good == 1)
    }

    // A burst that begins during the 144 us frame corrupts it; one present before or during the first 40 us hides it.
    // In a period of 5 ms, of which the burst takes half, that is 2,500 + 144 and 2,500 + 40 microseconds.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func burstsTakeTheirShareOfTheTime(seed: UInt64) {
        let source = Interference(power: 0, share: 0.5)
        let (good, noticed) = survival(source, seed: seed)
        #expect(abs(good - (1 - 0.5288)) < 0.03, "\(good)")
        #expect(abs(noticed - (1 - 0.508)) < 0.03, "\(noticed)")
    }

    @Test func distanceMakesInterferenceWeaker() {
        // 0 dBm at 1 m arrives as -40; the jammer's -54 at 5 m is weaker by more than the threshold.
        let far = Interference(at: Position(x: 1, y: 5), power: 0)
        #expect(survival(far).good == 1)
        #expect(survival(far, power: -10).noticed == 0)
    }

    @Test func sourcesAddUp() {
        // Each is 9 dB below the frame.
        let one = Interference(at: Position(x: 1, y: 1), power: -9)
        let air = Air { $0.interference = [one, one] }
        let (sender, receiver) = (air.node(), air.node(1))
        receiver.listen(tuning())
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard.isEmpty)
        air.radio.configuration.interference = [one]
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[1]?.map(\.isCorrupted) == [false])
    }

    @Test func theSameSeedHasTheSameBursts() {
        let source = Interference.wifi(channel: 1, share: 0.4)
        #expect(survival(source, seed: 5) == survival(source, seed: 5))
        #expect(survival(source, seed: 5) != survival(source, seed: 6))
    }

    @Test(arguments: [0, -1, .nan, 1e-9])
    func aSourceWithoutAShareIsSilent(share: Double) {
        #expect(survival(Interference(power: 0, share: share)).good == 1)
    }

    @Test func aBurstIsFoundHoweverItIsAskedFor() {
        let process = InterferenceProcess(Interference(power: 0, share: 0.2, period: .milliseconds(1)), seed: 7)
        var busy = 0
        for microsecond in 0..<100_000 as Range<Int64> where process.isOn(from: microsecond, to: microsecond + 1) {
            busy += 1
        }
        #expect(busy == 100 * 200)
        for start in stride(from: Int64(0), to: 20_000, by: 77) {
            let inParts = (start..<start + 150).contains { process.isOn(from: $0, to: $0 + 1) }
            #expect(process.isOn(from: start, to: start + 150) == inParts)
        }
        #expect(!process.isOn(from: 5, to: 5))
    }

    // 1M needs -95 dBm; -100 dBm of noise on top of -106 raises that by 7 dB.
    @Test(arguments: [(-87.0, true), (-89.0, false)])
    func noiseRaisesWhatAReceiverNeeds(strength: Double, isHeard: Bool) {
        let air = Air { $0.channelNoise = [5: -100] }
        let (sender, receiver) = (air.node(), air.node(1))
        for channel in [5, 6] as [UInt8] {
            receiver.listen(tuning(channel: channel))
            sender.send(frame(channel: channel), power: strength + 40)
            air.loop.run(for: .seconds(1))
        }
        let channels: [UInt8] = isHeard ? [5, 6] : [6]
        #expect(air.heard[1]?.map(\.frame.channel) == channels)
    }
}
