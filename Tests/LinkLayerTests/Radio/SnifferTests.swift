import EventLoops
import Testing

@testable import LinkLayer

@Suite struct SnifferTests {
    private func sniff(_ air: Air, at position: Position?) -> Seen {
        let seen = Seen()
        let sniffer = air.radio.addSniffer(at: position)
        sniffer.onFrame = { seen.frames.append($0) }
        return seen
    }

    private final class Seen {
        var frames: [SniffedFrame] = []
    }

    @Test func everythingIsSeenWithoutAPlace() {
        let air = Air()
        let (a, b) = (air.node(), air.node(100_000))
        let seen = sniff(air, at: nil)
        a.send(frame(), power: 4)
        b.send(frame(), power: -4)
        air.loop.run(for: .seconds(1))
        #expect(seen.frames.map(\.rssi) == [4, -4])
        #expect(seen.frames.map(\.isCorrupted) == [false, false])
        #expect(seen.frames.map(\.noise) == [nil, nil])
        #expect(seen.frames.map(\.sender) == [a.id, b.id])
    }

    @Test func atAPlaceDistanceCollisionsAndNoiseCount() {
        let air = Air { $0.channelNoise = [5: -90] }
        let (near, far, silent) = (air.node(1), air.node(10), air.node(10_000))
        let seen = sniff(air, at: Position())
        near.send(frame())
        far.send(frame())
        silent.send(frame())
        air.loop.run(for: .milliseconds(1))
        near.send(frame(channel: 5))
        far.send(frame(channel: 6))
        air.loop.run(for: .milliseconds(1))
        #expect(seen.frames.map(\.rssi) == [-40, -60, -40, -60])
        #expect(seen.frames.map(\.isCorrupted) == [false, true, false, false])
        #expect(seen.frames.map(\.noise) == [-106, -106, -90, -106])
    }

    @Test func aLaterFrameSpoilsAnEarlierOneForTheSniffer() {
        let air = Air()
        let (a, b) = (air.node(1), air.node(1))
        let seen = sniff(air, at: Position())
        a.send(frame())
        air.loop.schedule(after: .microseconds(143)) { b.send(frame()) }
        air.loop.run(for: .milliseconds(1))
        #expect(seen.frames.map(\.isCorrupted) == [true, true])
    }

    @Test func framesComeInTheOrderOfTheirBeginnings() {
        let air = Air()
        let (long, short, next) = (air.node(), air.node(), air.node())
        let seen = sniff(air, at: nil)
        long.send(frame(channel: 1, phy: .codedS8, octets: 200))
        air.loop.schedule(after: .microseconds(10)) { short.send(frame(channel: 2)) }
        air.loop.schedule(after: .milliseconds(20)) { next.send(frame(channel: 3)) }
        air.loop.run(for: .milliseconds(10))
        #expect(seen.frames.isEmpty)
        air.loop.run(for: .seconds(1))
        #expect(seen.frames.map(\.frame.channel) == [1, 2, 3])
    }

    @Test func interferenceSpoilsWhatASnifferHears() {
        let air = Air { $0.interference = [Interference(at: Position(x: 1), power: 0, channels: [37])] }
        let sender = air.node(1)
        let seen = sniff(air, at: Position())
        sender.send(frame())
        air.loop.run(for: .milliseconds(1))
        sender.send(frame(channel: 38))
        air.loop.run(for: .milliseconds(1))
        #expect(seen.frames.map(\.isCorrupted) == [true, false])
    }

    @Test func aSnifferThatIsRemovedIsSilent() {
        let air = Air()
        let sender = air.node()
        let sniffer = air.radio.addSniffer()
        var count = 0
        sniffer.onFrame = { _ in count += 1 }
        sender.send(frame())
        air.loop.run(for: .milliseconds(1))
        air.radio.remove(sniffer)
        sender.send(frame())
        air.loop.run(for: .milliseconds(1))
        #expect(count == 1)
    }

    @Test func aSnifferChangesNothing() {
        func heard(sniffed: Bool) -> [Bool] {
            let air = Air(seed: 4) {
                $0.lossRate = 0.2
                $0.corruptionRate = 0.2
                $0.interference = [Interference(power: 0, share: 0.2)]
            }
            let (sender, receiver) = (air.node(), air.node(1))
            let seen = sniffed ? sniff(air, at: Position(y: 2)) : nil
            receiver.listen(tuning())
            for index in 0..<500 { air.loop.schedule(after: .milliseconds(index)) { sender.send(frame()) } }
            air.loop.run(for: .seconds(1))
            #expect(seen.map { $0.frames.count == 500 } ?? true)
            return air.heard[1]?.map(\.isCorrupted) ?? []
        }
        #expect(heard(sniffed: true) == heard(sniffed: false))
    }

    @Test func theTapSeesFramesAtTheirFirstBit() {
        let air = Air()
        let sender = air.node()
        var seen: [Int64] = []
        air.radio.onTransmission = { _ in seen.append(air.loop.now.microseconds) }
        sender.send(frame(), power: 4)
        #expect(seen == [0])
    }
}
