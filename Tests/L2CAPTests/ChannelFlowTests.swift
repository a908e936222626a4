import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// Two ends of ours, and what apps do to them.
final class ChannelPair {
    let loop = VirtualEventLoop()
    let links: (LoopbackLink, LoopbackLink)
    let central: L2CAPConnection
    let peripheral: L2CAPConnection
    let near: L2CAPCreditBasedChannel
    let far: L2CAPCreditBasedChannel
    var received: [[UInt8]] = []

    init(_ mode: ChannelMode, near: ChannelParameters, far: ChannelParameters, fragment: Int = 251) throws {
        links = LoopbackLink.pair(loop: loop)
        links.0.fragmentLength = fragment
        links.1.fragmentLength = fragment
        let servers = ChannelServers()
        let server = try servers.listen(parameters: far)
        central = L2CAPConnection(link: links.0, role: .central, loop: loop)
        peripheral = L2CAPConnection(link: links.1, role: .peripheral, loop: loop, servers: servers)
        var opened: [L2CAPCreditBasedChannel] = []
        switch mode {
        case .creditBased:
            central.openChannel(on: server.spsm, parameters: near) { opened += (try? $0.get()).map { [$0] } ?? [] }
        case .enhanced:
            central.openEnhancedChannels(1, on: server.spsm, parameters: near) {
                opened += (try? $0.get().channels) ?? []
            }
        }
        loop.run(for: .zero)
        self.near = try #require(opened.first)
        self.far = try #require(server.channels.first)
        self.far.onReceive = { [weak self] in self?.received.append($0.bytes) }
    }

    /// Sends SDUs as fast as there is room for them.
    func stream(_ sdus: [[UInt8]]) {
        var rest = sdus[...]
        let fill = { [near] in
            while let next = rest.first, (try? near.offer(PacketBuffer(copying: next))) != nil { rest.removeFirst() }
        }
        near.onDrain = fill
        fill()
        loop.run(for: .seconds(1))
    }
}

@Suite struct ChannelFlowTests {
    @Test(arguments: [1, 2, 5, 27, 64, 251], [1, 2, 3, 8])
    func everySizeArrivesWhole(fragment: Int, window: Int) throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let small = ChannelParameters(mtu: 300, mps: 64, window: window)
            let pair = try ChannelPair(mode, near: small, far: small, fragment: fragment)
            let sdus = [0, 1, 2, 61, 62, 63, 64, 65, 125, 126, 127, 128, 129, 190, 299, 300].map(pattern)
            pair.stream(sdus)
            #expect(pair.received == sdus)
            #expect(pair.near.closure == nil && pair.far.closure == nil)
        }
    }

    @Test func anSDUIsReadWhereverItsFramesAreCut() throws {
        let sdu = pattern(40)
        for first in 0...40 {
            for second in max(first, 1)...40 {
                var receiver = FrameReceiver(ChannelParameters(mtu: 40, mps: 42, window: 3))
                let frames = [le(40) + sdu[..<first], Array(sdu[first..<second]), Array(sdu[second...])]
                var outcome = FrameReceiver.Outcome.none
                for frame in frames where !frame.isEmpty {
                    #expect(outcome == .none)
                    outcome = receiver.receive(PacketBuffer(frame))
                }
                #expect(outcome == .sdu(PacketBuffer(sdu)))
            }
        }
    }

    @Test func sendingStopsWhenTooMuchWaits() throws {
        let pair = try ChannelPair(.creditBased, near: ChannelParameters(), far: ChannelParameters(window: 1))
        pair.far.isPaused = true
        var taken = 0
        while (try? pair.near.offer([1, 2, 3])) != nil { taken += 1 }
        pair.loop.run(for: .seconds(1))
        #expect(taken <= L2CAPCreditBasedChannel.maximumQueuedSDUs + 1)
        while (try? pair.near.offer([1, 2, 3])) != nil { taken += 1 }
        #expect(throws: ChannelSendError.full) { try pair.near.offer([1]) }
        #expect(!pair.near.hasRoom && pair.near.queuedPDUs == L2CAPCreditBasedChannel.maximumQueuedSDUs)
        var drains = 0
        pair.near.onDrain = { drains += 1 }
        pair.far.isPaused = false
        pair.loop.run(for: .seconds(1))
        #expect(pair.received.count == taken && drains == L2CAPCreditBasedChannel.maximumQueuedSDUs)
        #expect(pair.near.hasRoom)
    }

    @Test func aProtocolThatDoesNotLookLosesTheChannelAndNoSDUInSilence() throws {
        let pair = try ChannelPair(.creditBased, near: ChannelParameters(), far: ChannelParameters(window: 1))
        pair.far.isPaused = true
        for _ in 0..<40 { pair.near.send([1]) }
        #expect(pair.near.closure == .overflow)
        let other = try ChannelPair(.creditBased, near: ChannelParameters(), far: ChannelParameters(mtu: 23))
        #expect(throws: ChannelSendError.tooLong(limit: 23)) { try other.near.offer(PacketBuffer(pattern(24))) }
        #expect(other.near.closure == nil)
    }

    @Test func aPausedReaderHoldsNoMoreThanTheWindow() throws {
        let small = ChannelParameters(mtu: 64, mps: 64, window: 6)
        let pair = try ChannelPair(.enhanced, near: small, far: small)
        pair.far.isPaused = true
        pair.stream((0..<20).map { [UInt8($0)] })
        #expect(pair.received.isEmpty)
        #expect(pair.near.queuedPDUs == 14)
        // One reader that takes one and pauses again.
        pair.far.onReceive = { [weak pair] in
            pair?.received.append($0.bytes)
            pair?.far.isPaused = true
        }
        pair.far.isPaused = false
        #expect(pair.received == [[0]])
        pair.far.onReceive = { [weak pair] in pair?.received.append($0.bytes) }
        pair.far.isPaused = false
        pair.loop.run(for: .seconds(1))
        #expect(pair.received == (0..<20).map { [UInt8($0)] })
    }

    @Test func aPausedReaderInTheMiddleOfAnSDUGoesOn() throws {
        let small = ChannelParameters(mtu: 300, mps: 64, window: 2)
        let pair = try ChannelPair(.enhanced, near: small, far: small)
        pair.far.isPaused = true
        pair.stream([pattern(300)])
        #expect(pair.received.isEmpty)
        pair.far.isPaused = false
        pair.loop.run(for: .seconds(1))
        #expect(pair.received == [pattern(300)])
    }

    @Test func theLinksQueueIsSharedWithOthers() throws {
        let pair = try ChannelPair(.creditBased, near: ChannelParameters(), far: ChannelParameters(window: 1000))
        pair.links.0.isHeld = true
        for _ in 0..<30 { try pair.near.offer([1]) }
        #expect(pair.links.0.queuedPDUs == L2CAPCreditBasedChannel.maximumLinkQueue)
        pair.links.0.isHeld = false
        pair.loop.run(for: .seconds(1))
        #expect(pair.received.count == 30)
    }

    @Test func framesGoIntoTheHeadroom() {
        var sender = FrameSender(mtu: 500, mps: 100, credits: 100)
        var whole = PacketBuffer(capacity: 98)
        whole.append(contentsOf: pattern(98))
        sender.add(whole)
        #expect(sender.next()?.frame.headroom == PacketBuffer.defaultHeadroom - 2)
        sender.add(PacketBuffer(copying: pattern(250)))
        for _ in 0..<3 { #expect((sender.next()?.frame.headroom ?? 0) >= 8) }
        #expect(sender.next() == nil && sender.queuedSDUs == 0)
    }
}
