import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// Two ends of this package, driven as apps do.
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
        self.far.onReceive = { [weak self] sdu, _ in self?.received.append(sdu.bytes) }
    }

    /// Sends SDUs as fast as there is space for them.
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
            #expect(pair.near.closure == nil)
            #expect(pair.far.closure == nil)
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
                    outcome = receiver.receive(PacketBuffer(frame), at: .first)
                }
                #expect(outcome == .sdu(PacketBuffer(sdu), .first))
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
        #expect(!pair.near.hasRoom)
        #expect(pair.near.queuedPDUs == L2CAPCreditBasedChannel.maximumQueuedSDUs)
        var drains = 0
        pair.near.onDrain = { drains += 1 }
        pair.far.isPaused = false
        pair.loop.run(for: .seconds(1))
        #expect(pair.received.count == taken)
        #expect(drains == L2CAPCreditBasedChannel.maximumQueuedSDUs)
        #expect(pair.near.hasRoom)
    }

    @Test("a protocol that ignores backpressure loses the channel and no SDU silently")
    func aProtocolThatDoesNotLookLosesTheChannel() throws {
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
        // A reader that receives one and pauses again.
        pair.far.onReceive = { [weak pair] sdu, _ in
            pair?.received.append(sdu.bytes)
            pair?.far.isPaused = true
        }
        pair.far.isPaused = false
        #expect(pair.received == [[0]])
        pair.far.onReceive = { [weak pair] sdu, _ in pair?.received.append(sdu.bytes) }
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
        #expect(sender.next() == nil)
        #expect(sender.queuedSDUs == 0)
    }
}

@Suite struct ChannelFairnessTests {
    @Test func channelsTakeTurns() throws {
        let fixture = try ChannelFixture()
        let channels = try (0..<3).map { try fixture.accept(.creditBased, credits: 100, source: 0x40 + $0) }
        fixture.link.isHeld = true
        for channel in channels { for _ in 0..<20 { try channel.offer([1]) } }
        fixture.link.release(8)
        _ = fixture.link.takeSent()
        // PDUs queued before the link was full belong to the first channel; from then on the channels take turns.
        fixture.link.release(30)
        let counts = Dictionary(grouping: fixture.link.takeSent(), by: \.channel).mapValues(\.count)
        #expect(counts.count == 3)
        #expect(counts.values.allSatisfy { (6...14).contains($0) })
        fixture.link.isHeld = false
        fixture.loop.run(for: .seconds(1))
        #expect(channels.allSatisfy { $0.queuedPDUs == 0 })
    }

    @Test("AB-C11: an endless frame closes only its own channel")
    func aFrameThatDoesNotEndClosesItsChannelOnly() throws {
        let fixture = try ChannelFixture()
        let other = try fixture.accept(.creditBased, source: 0x41)
        for isInterrupted in [true, false] {
            let channel = try fixture.accept(.creditBased)
            fixture.link.onReceive?(PacketBuffer([20, 0] + le(Int(channel.identifier.rawValue)) + [1, 0]), true)
            if !isInterrupted { fixture.loop.run(for: .seconds(30)) }
            let sent = isInterrupted ? fixture.frame(le(1) + [1], on: other) : fixture.link.takeSent(on: 5)
            #expect(channel.closure == .violation(.brokenFrame))
            let request = try #require(sent.first)
            fixture.signal(0x07, request[1], le(0x40) + le(Int(channel.identifier.rawValue)))
            fixture.loop.run(for: .seconds(40))
        }
        #expect(other.closure == nil)
    }

    @Test("AB-C11: an octet every 29 seconds on twenty links keeps no PDU waiting")
    func oneOctetEach29SecondsOnTwentyLinks() {
        let fixtures = (0..<20).map { _ in Fixture() }
        for fixture in fixtures { fixture.receive([[60, 0, 4, 0]]) }
        for octet in 1...5 {
            for fixture in fixtures {
                fixture.loop.run(for: .seconds(29))
                fixture.receive([[UInt8(octet)]], startsAt: nil)
            }
        }
        for fixture in fixtures {
            #expect(fixture.discards == [.incomplete(received: 5)])
            #expect(fixture.received.isEmpty)
        }
    }
}

/// Plausible commands and frames in every order, one seed per case.
@Suite struct ChannelChaosTests {
    @Test(arguments: 1...40)
    func anyTrafficGetsOneAnswerWithinBounds(seed: Int) throws {
        var random = SplitMix(state: UInt64(seed))
        let fixture = try ChannelFixture(role: seed.isMultiple(of: 2) ? .central : .peripheral)
        var attempts: [OpenAttempt] = []
        let words = [0, 1, 2, 4, 0x0D, 0x3F, 0x40, 0x41, 0x42, 0x50, 0x51, 0x64, 0x7F, 0x80, 100, 200, 70, 0xFFFF]
        for step in 0..<400 {
            switch random.next() % 8 {
            case 0:
                _ = fixture.link.takeSent()
                let attempt = fixture.start(random.flip() ? .enhanced : .creditBased)
                if !attempt.request.isEmpty { attempts.append(attempt) }
            case 1: if let attempt = attempts.randomElement(using: &random) { fixture.answer(attempt) }
            case 2:
                let channels = fixture.connection.creditBasedChannels
                if let channel = channels.randomElement(using: &random) {
                    try? channel.offer(PacketBuffer(pattern(80)))
                }
                if random.flip() { channels.randomElement(using: &random)?.disconnect() }
            case 3:
                guard let channel = fixture.connection.creditBasedChannels.randomElement(using: &random) else { break }
                let length = Int(random.next() % 80)
                fixture.frame(random.flip() ? le(length) + pattern(length) : pattern(length), on: channel)
            case 4:
                let channels = fixture.connection.creditBasedChannels.prefix(2)
                fixture.connection.reconfigure(Array(channels), mtu: 200 + step, mps: 70) { _ in }
            case 5: fixture.loop.run(for: .seconds(Int(random.next() % 40)))
            default:
                let code = UInt8(random.next() % 0x1C)
                let fields = (0..<Int(random.next() % 9)).flatMap { _ in le(words.randomElement(using: &random) ?? 0) }
                _ = fixture.link.takeSent()
                let before = fixture.connection.creditBasedChannels.count
                let sent = fixture.signal(code, UInt8(random.next() % 20), fields)
                // At most one answer, and requests to disconnect channels that break a rule.
                #expect(sent.count { $0[0] != 0x06 && $0[0] != 0x16 } <= 1, "seed \(seed), step \(step)")
                #expect(sent.count <= 1 + before)
            }
            let machine = fixture.connection.signalling
            #expect(machine.endpoints.count <= L2CAPConnection.maximumDynamicChannels)
            #expect(machine.pending.count <= SignallingMachine.maximumPending)
            #expect(Set(machine.pending.keys) == Set(fixture.connection.signallingTimers.keys))
            #expect(attempts.allSatisfy { $0.outcomes <= 1 })
        }
        fixture.loop.run(for: .seconds(200))
        #expect(fixture.connection.signalling.pending.isEmpty)
        #expect(fixture.connection.completions.isEmpty)
        #expect(attempts.allSatisfy { $0.outcomes == 1 })
    }
}

/// A small generator whose seeds give the same sequence on every platform.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func flip() -> Bool { next() & 1 == 0 }
}
