import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// An end under test; the other end is a bare link.
final class Fixture {
    let loop = VirtualEventLoop()
    let link: LoopbackLink
    let peer: LoopbackLink
    let connection: L2CAPConnection
    var channel: L2CAPFixedChannel
    var received: [[UInt8]] = []
    var discards: [L2CAPDiscard] = []

    init(role: L2CAPRole = .peripheral, maximumPayload: Int = 64) {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: role, loop: loop)
        channel = connection.register(.attribute, maximumPayload: maximumPayload)
        channel.onReceive = { [weak self] payload, _ in self?.received.append(payload.bytes) }
        connection.onDiscard = { [weak self] in self?.discards.append($0) }
        loop.run(for: .zero)
    }

    /// Delivers fragments to the end under test.
    func receive(_ fragments: [[UInt8]], startsAt start: Int? = 0) {
        for (index, fragment) in fragments.enumerated() {
            link.onReceive?(PacketBuffer(fragment), index == start)
        }
    }

    /// Sends signalling octets to the end under test, and returns its answers.
    func signal(_ payload: [UInt8]) -> [[UInt8]] {
        peer.inject(payload, on: 5)
        loop.run(for: .zero)
        return link.takeSent(on: 5)
    }
}

@Suite struct RecombinationTests {
    let fixture = Fixture()
    let pdu: [UInt8] = [10, 0, 4, 0] + Array(1...10)

    @Test(arguments: 1...13)
    func splitAtEveryByte(at cut: Int) {
        fixture.receive([Array(pdu[..<cut]), Array(pdu[cut...])])
        #expect(fixture.received == [Array(1...10)])
        #expect(fixture.discards.isEmpty)
    }

    @Test func oneOctetAtATime() {
        for _ in 0..<3 { fixture.receive(pdu.map { [$0] }) }
        #expect(fixture.received == Array(repeating: Array(1...10), count: 3))
    }

    @Test(arguments: 0...13)
    func truncatedAtEveryByteThenInterrupted(length: Int) {
        fixture.receive([Array(pdu[..<length])])
        #expect(fixture.received.isEmpty)
        fixture.receive([pdu])
        #expect(fixture.received == [Array(1...10)])
        #expect(fixture.discards == [.interrupted(received: length)])
    }

    @Test("AB-C01: a PDU that is shorter than its fragments is discarded")
    func lengthBelowTheFragments() {
        fixture.receive([[2, 0, 4, 0, 1, 2, 3]])
        fixture.receive([[2, 0, 4, 0, 1], [2, 3, 4], [5]])
        #expect(fixture.received.isEmpty)
        #expect(
            fixture.discards == [
                .overrun(.attribute, length: 2, received: 3), .overrun(.attribute, length: 2, received: 4),
            ]
        )
    }

    @Test("AB-C01: a PDU above the channel's limit is discarded")
    func lengthAboveTheChannelsLimit() {
        fixture.receive([[65, 0, 4, 0, 1], [2], [3]])
        fixture.receive([[0xFF, 0xFF, 4, 0]])
        fixture.receive([[0xFF], [0xFF], [4], [0], [1], [2]])
        #expect(fixture.received.isEmpty)
        #expect(
            fixture.discards == [
                .tooLong(.attribute, length: 65, limit: 64), .tooLong(.attribute, length: 65535, limit: 64),
                .tooLong(.attribute, length: 65535, limit: 64),
            ]
        )
        fixture.receive([pdu])
        #expect(fixture.received.count == 1)
    }

    @Test("AB-C01: a PDU of length zero is received, and continuations without a start are discarded")
    func lengthZeroAndContinuationsOfNothing() {
        fixture.receive([[0, 0, 4, 0]])
        fixture.receive([[1, 2, 3]], startsAt: nil)
        #expect(fixture.received == [[]])
        #expect(fixture.discards == [.continuationWithoutStart])
    }

    @Test(
        "L2CAP/LE/CID/BI-01: data on unassigned channels are ignored",
        arguments: [0x0000, 0x0001, 0x0003, 0x0007, 0x003A, 0x0040, 0xFFFF] as [UInt16]
    )
    func dataOnUnassignedChannelsAreIgnored(channel: UInt16) {
        let identifier = ChannelIdentifier(rawValue: channel)
        fixture.peer.inject([1, 2, 3], on: channel)
        fixture.loop.run(for: .seconds(1))
        #expect(fixture.discards == [.unassigned(identifier)])
        #expect(fixture.link.sent.isEmpty)
    }

    @Test("AB-C11: an octet every 29 seconds does not keep a PDU waiting")
    func oneOctetEach29Seconds() {
        fixture.receive([[60, 0, 4, 0]])
        fixture.loop.run(for: .seconds(29))
        fixture.receive([[1]], startsAt: nil)
        #expect(fixture.discards.isEmpty)
        fixture.loop.run(for: .seconds(1))
        #expect(fixture.discards == [.incomplete(received: 5)])
        // The rest of it is ignored.
        fixture.receive([[2]], startsAt: nil)
        #expect(fixture.discards.count == 1)
        fixture.receive([pdu])
        #expect(fixture.received == [Array(1...10)])
    }

    @Test("AB-C11: the timer restarts with each PDU")
    func theTimerBeginsAnewWithEachPDU() {
        fixture.receive([[3, 0, 4, 0]])
        fixture.loop.run(for: .seconds(20))
        fixture.receive([[1, 2, 3]], startsAt: nil)
        fixture.receive([[3, 0, 4, 0]])
        fixture.loop.run(for: .seconds(29))
        fixture.receive([[4, 5, 6]], startsAt: nil)
        #expect(fixture.received == [[1, 2, 3], [4, 5, 6]])
        fixture.receive([[3, 0, 4, 0]])
        fixture.loop.run(for: .seconds(60))
        #expect(fixture.discards == [.incomplete(received: 4)])
    }

    @Test func earlyDataReachTheirChannels() {
        let loop = VirtualEventLoop()
        let (link, peer) = LoopbackLink.pair(loop: loop)
        peer.inject([1], on: 4)
        loop.run(for: .zero)
        let connection = L2CAPConnection(link: link, role: .peripheral, loop: loop)
        var received: [PacketBuffer] = []
        connection.register(.attribute, maximumPayload: 23).onReceive = { payload, _ in received.append(payload) }
        peer.inject([2], on: 4)
        loop.run(for: .zero)
        #expect(received == [[1], [2]])
    }

    @Test func headersGoIntoTheHeadroom() {
        var payload = PacketBuffer(capacity: 3)
        payload.append(contentsOf: [7, 8, 9] as [UInt8])
        fixture.channel.send(payload)
        #expect(fixture.link.sent.map(\.bytes) == [[3, 0, 4, 0, 7, 8, 9]])
        #expect(fixture.link.sent.first?.headroom == PacketBuffer.defaultHeadroom - 4)
    }

    @Test func channelsHearOfRoomAndOfTheEnd() {
        var drains = 0
        var closes = 0
        fixture.channel.onDrain = { drains += 1 }
        fixture.channel.onClose = { closes += 1 }
        fixture.link.isHeld = true
        fixture.channel.send([1])
        fixture.channel.send([2])
        #expect(fixture.channel.queuedPDUs == 2)
        fixture.link.release(1)
        #expect(drains == 1)
        fixture.connection.close()
        fixture.connection.close()
        #expect(closes == 1)
        fixture.channel.send([3])
        fixture.peer.inject([1], on: 4)
        fixture.loop.run(for: .seconds(1))
        #expect(fixture.received.isEmpty)
    }
}
