import EventLoops
import Testing

@testable import LinkLayer

@Suite struct CollisionTests {
    // Two frames at equal strength at the same time: the first is corrupted, the second goes undetected, on every
    // channel.
    @Test(arguments: RadioChannels.all.indices)
    func framesCollideOnEveryChannel(channel: UInt8) {
        let air = Air()
        let (receiver, first, second) = (air.node(), air.node(1), air.node(1))
        receiver.listen(tuning(channel: channel))
        first.send(frame(channel: channel))
        air.loop.schedule(after: .microseconds(20)) { second.send(frame(channel: channel, octets: 20)) }
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [true])
        #expect(air.heard[0]?.map(\.frame.pdu.count) == [10])
    }

    @Test(arguments: [(0.0, true), (5.9, true), (6.1, false), (20.0, false)])
    func theCaptureThresholdIsWhatItIsSetTo(stronger decibels: Double, isCorrupted: Bool) {
        let air = Air { $0.propagation.captureThreshold = 6 }
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(1))
        receiver.listen(tuning())
        sender.send(frame(), power: decibels)
        disturber.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [isCorrupted])
    }

    @Test func withoutCaptureTheStrongestIsLostTogetherWithTheWeakest() {
        let air = Air { $0.propagation.captureThreshold = .infinity }
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(500))
        receiver.listen(tuning())
        sender.send(frame(), power: 20)
        disturber.send(frame(), power: -20)
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [true])
    }

    // Each disturber is 9 dB weaker, which a frame survives; two together are 6 dB weaker.
    @Test(arguments: [(1, false), (2, true), (3, true)])
    func disturbersAddUp(count: Int, isCorrupted: Bool) {
        let air = Air()
        let (receiver, sender) = (air.node(), air.node(1))
        receiver.listen(tuning())
        sender.send(frame())
        for _ in 0..<count { air.node(1).send(frame(), power: -9) }
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [isCorrupted])
    }

    // Below the receiver's sensitivity, so it is never received, but within 8 dB of the frame.
    @Test func weakFramesStillInterfere() {
        let air = Air()
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(1))
        receiver.listen(tuning())
        disturber.send(frame(), power: -60)
        air.loop.run(for: .seconds(1))
        #expect(air.heard.isEmpty)
        sender.send(frame(), power: -54)
        disturber.send(frame(), power: -60)
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [true])
    }

    @Test func aDisturberThatHasEndedDoesNoHarm() {
        let air = Air()
        let (receiver, sender, disturber) = (air.node(), air.node(1), air.node(1))
        receiver.listen(tuning())
        disturber.send(frame(address: 3))
        air.loop.schedule(after: .microseconds(144)) { sender.send(frame()) }
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [false])
    }

    // The senders are out of each other's range; the receiver between them is in range of both.
    @Test func theHiddenSender() {
        let air = Air()
        let (receiver, a, b) = (air.node(), air.node(300), air.node(-300))
        b.listen(tuning())
        receiver.listen(tuning())
        a.send(frame())
        air.loop.run(for: .milliseconds(1))
        #expect(air.heard[2] == nil && air.heard[0]?.count == 1)
        a.send(frame())
        air.loop.schedule(after: .microseconds(50)) { b.send(frame()) }
        air.loop.run(for: .milliseconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [false, true])
    }

    // A wall between the receiver and the disturber makes the collision harmless for this receiver.
    @Test func attenuationSpares() {
        let air = Air()
        let (receiver, other, sender, disturber) = (air.node(), air.node(0.1), air.node(1), air.node(1))
        air.radio.setQuality(AirQuality(attenuation: 30), from: disturber, to: receiver)
        receiver.listen(tuning())
        other.listen(tuning())
        sender.send(frame())
        disturber.send(frame())
        air.loop.run(for: .seconds(1))
        #expect(air.heard[0]?.map(\.isCorrupted) == [false])
        #expect(air.heard[1]?.map(\.isCorrupted) == [true])
    }
}
