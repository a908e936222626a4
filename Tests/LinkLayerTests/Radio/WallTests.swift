import EventLoops
import Testing

@testable import LinkLayer

@Suite struct WallTests {
    private static let wall = Wall(from: Position(x: 5, y: -5), to: Position(x: 5, y: 5), attenuation: 30)

    @Test("a wall weakens what passes through it, and nothing else")
    func weakens() {
        let air = Air { $0.walls = [Self.wall] }
        let (sender, behind, before) = (air.node(), air.node(10), air.node(4))
        for node in [behind, before] { node.listen(tuning()) }
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[behind.id.number]?.map(\.rssi) == [-90])
        #expect(air.heard[before.id.number]?.map(\.rssi) == [-52])
    }

    @Test("walls add up, and end a link that had been strong enough")
    func addUp() {
        let air = Air { $0.walls = [Self.wall, Self.wall] }
        let (sender, receiver) = (air.node(), air.node(10))
        receiver.listen(tuning())
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard.isEmpty)
        air.radio.configuration.walls.removeLast()
        sender.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[1]?.count == 1)
    }

    @Test(
        "a wall stands between two positions if the line between them meets it, as seen from above",
        arguments: [
            (Position(x: 0), Position(x: 10), true),
            (Position(x: 10), Position(x: 0), true),
            (Position(x: 0, y: 9), Position(x: 10, y: 0), true),
            // Past the end, up to the wall and along it.
            (Position(x: 0, y: 6), Position(x: 10, y: 6), false),
            (Position(x: 0), Position(x: 4.9), false),
            (Position(x: 5, y: 6), Position(x: 5, y: 9), false),
            (Position(x: 5, y: -9), Position(x: 5, y: 9), false),
            // At the wall, through its end, and above it.
            (Position(x: 0), Position(x: 5), true),
            (Position(x: 0, y: 5), Position(x: 10, y: 5), true),
            (Position(x: 0, z: 50), Position(x: 10, z: 50), true),
            (Position(x: 0), Position(x: 0), false),
            (Position(x: .nan), Position(x: 10), false),
            (Position(x: 0), Position(x: .infinity), true),
        ]
    )
    func stands(_ one: Position, _ other: Position, _ expected: Bool) {
        #expect(Self.wall.stands(between: one, and: other) == expected)
    }

    @Test("a wall without a length is none")
    func point() {
        let wall = Wall(from: Position(x: 5), to: Position(x: 5))
        #expect(!wall.stands(between: Position(x: 0), and: Position(x: 10)))
    }

    @Test("the range is where signals become too weak, and noise shortens it")
    func range() {
        let air = Air()
        #expect((562.0...563).contains(air.radio.range(power: 0, channel: 37)))
        air.radio.configuration.channelNoise = [37: -86]
        let noisy = air.radio.range(power: 0, channel: 37)
        #expect((55.0...57).contains(noisy))
        let at = { air.radio.strength(power: 0, from: Position(), to: Position(x: $0)) }
        #expect(air.radio.isReceivable(at(noisy - 0.1), channel: 37))
        #expect(!air.radio.isReceivable(at(noisy + 0.1), channel: 37))
        #expect(air.radio.isReceivable(at(noisy + 0.1), channel: 38))
    }
}
