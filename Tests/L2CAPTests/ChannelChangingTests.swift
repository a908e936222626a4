import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

@Suite struct ChannelReconfiguringTests {
    /// Sends the peer's reconfiguration request, and returns the results.
    private func reconfigure(_ fixture: ChannelFixture, _ mtu: Int, _ mps: Int, _ channels: [Int]) -> [[UInt8]] {
        fixture.signal(0x19, 60, le(mtu) + le(mps) + channels.flatMap { le($0) }).map { Array($0[4...]) }
    }

    @Test("L2CAP/ECFC/BV-22: this side raises the MTU of an enhanced channel")
    func weRaiseTheMTU() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(.enhanced)
        var outcomes: [ReconfigureError?] = []
        fixture.connection.reconfigure([channel], mtu: 201, mps: 70) { outcomes.append($0) }
        let request = try #require(fixture.link.takeSent(on: 5).first)
        #expect(request == [0x19, request[1], 6, 0] + le(201) + le(70) + le(Int(channel.identifier.rawValue)))
        fixture.signal(0x1A, request[1], [0, 0])
        #expect(outcomes == [nil])
        #expect(channel.mtu == 201)
        for frame in [le(201) + pattern(68), pattern(70), pattern(63)] { fixture.frame(frame, on: channel) }
        #expect(fixture.received.map(\.count) == [201])
    }

    @Test("L2CAP/ECFC/BV-23: the peer raises the MTU of an enhanced channel")
    func thePeerRaisesTheMTU() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced, credits: 100)
        #expect(throws: ChannelSendError.tooLong(limit: 100)) { try channel.offer(PacketBuffer(pattern(101))) }
        var changes = 0
        channel.onReconfigure = { changes += 1 }
        #expect(reconfigure(fixture, 101, 64, [0x40]) == [[0, 0]])
        #expect(channel.peerMTU == 101)
        #expect(changes == 1)
        try channel.offer(PacketBuffer(pattern(101)))
        #expect(fixture.sentFrames().flatMap(\.self) == le(101) + pattern(101))
    }

    @Test("L2CAP/ECFC/BI-03, AB-C04: an MTU does not shrink")
    func anMTUDoesNotShrink() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced)
        _ = try fixture.accept(.enhanced, source: 0x41)
        for mtu in [99, 64, 63, 0] {
            #expect(reconfigure(fixture, mtu, 64, [0x40]) == [[1, 0]])
            #expect(reconfigure(fixture, mtu, 200, [0x40, 0x41]) == [[1, 0]])
        }
        #expect(channel.peerMTU == 100)
        #expect(channel.peerMPS == 64)
        #expect(channel.closure == nil)
        // If any one of them would shrink, nothing changes on the others.
        #expect(reconfigure(fixture, 150, 64, [0x41]) == [[0, 0]])
        for channels in [[0x40, 0x41], [0x41, 0x40]] { #expect(reconfigure(fixture, 120, 64, channels) == [[1, 0]]) }
        #expect(fixture.incoming.map(\.peerMTU) == [100, 150])
        #expect(fixture.incoming.allSatisfy { $0.closure == nil })
    }

    @Test("L2CAP/ECFC/BV-24: this side changes the MPS of an enhanced channel")
    func weChangeTheMPS() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(.enhanced)
        for mps in [71, 69] {
            var outcomes: [ReconfigureError?] = []
            fixture.connection.reconfigure([channel], mtu: 200, mps: mps) { outcomes.append($0) }
            let request = try #require(fixture.link.takeSent(on: 5).first)
            // Until the peer has agreed, the old values remain valid.
            fixture.frame(le(68) + pattern(68), on: channel)
            fixture.signal(0x1A, request[1], [0, 0])
            #expect(outcomes == [nil])
            #expect(channel.mps == mps)
            fixture.frame(le(mps - 2) + pattern(mps - 2), on: channel)
        }
        #expect(fixture.received.map(\.count) == [68, 69, 68, 67])
        fixture.frame(le(68) + pattern(68), on: channel)
        #expect(channel.closure == .violation(.frameTooLong))
    }

    @Test("L2CAP/ECFC/BV-25: the peer changes its MPS of an enhanced channel")
    func thePeerChangesItsMPS() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced, credits: 100)
        #expect(reconfigure(fixture, 100, 66, [0x40]) == [[0, 0]])
        for mps in [67, 65, 64] {
            #expect(reconfigure(fixture, 100, mps, [0x40]) == [[0, 0]])
            try channel.offer(PacketBuffer(pattern(100)))
            #expect(fixture.sentFrames().map(\.count) == [mps, 102 - mps])
        }
    }

    @Test("L2CAP/ECFC/BI-04, AB-C04: an MPS shrinks on one channel at a time")
    func anMPSShrinksOnOneChannelAtATime() throws {
        let fixture = try ChannelFixture()
        let first = try fixture.accept(.enhanced)
        let second = try fixture.accept(.enhanced, source: 0x41)
        #expect(reconfigure(fixture, 100, 90, [0x40, 0x41]) == [[0, 0]])
        #expect(reconfigure(fixture, 100, 89, [0x40, 0x41]) == [[2, 0]])
        #expect(first.peerMPS == 90)
        #expect(second.peerMPS == 90)
        // A value between the two reduces only one of them.
        #expect(reconfigure(fixture, 100, 70, [0x40]) == [[0, 0]])
        for channels in [[0x40, 0x41], [0x41, 0x40]] { #expect(reconfigure(fixture, 100, 80, channels) == [[2, 0]]) }
        #expect(first.peerMPS == 70)
        #expect(second.peerMPS == 90)
        #expect(first.closure == nil)
        #expect(second.closure == nil)
    }

    @Test("L2CAP/ECFC/BI-05, AB-C04: reconfiguring unknown channels is refused")
    func unknownChannels() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced)
        _ = try fixture.accept(.creditBased, source: 0x41)
        // No channel, one of the other mode, our own identifier, and numbers outside the channel range.
        let own = Int(channel.identifier.rawValue)
        for number in [0x42, 0x41, own == 0x40 ? 0x43 : own, 0, 0x0004, 0xFFFF] {
            #expect(reconfigure(fixture, 200, 64, [number]) == [[3, 0]])
            #expect(reconfigure(fixture, 200, 64, [0x40, number]) == [[3, 0]])
        }
        #expect(channel.peerMTU == 100)
    }

    @Test("L2CAP/ECFC/BI-06, AB-C04: reconfiguring with unacceptable values is refused")
    func unacceptableValues() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced)
        for mps in [0, 1, 63, 65_534, 65_535] { #expect(reconfigure(fixture, 200, mps, [0x40]) == [[4, 0]]) }
        // Lists of six, of none, with half an identifier, and with a duplicate.
        #expect(reconfigure(fixture, 200, 64, Array(0x40...0x45)) == [[4, 0]])
        #expect(reconfigure(fixture, 200, 64, []) == [[4, 0]])
        #expect(reconfigure(fixture, 200, 64, [0x40, 0x40]) == [[4, 0]])
        #expect(fixture.signal(0x19, 61, le(200) + le(64) + [0x40]).map { Array($0[4...]) } == [[4, 0]])
        #expect(fixture.signal(0x19, 61, [200]).map { $0[0] } == [0x01])
        #expect(channel.peerMTU == 100)
        #expect(channel.peerMPS == 64)
    }

    @Test func refusalsLeaveEverythingAsItWas() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(.enhanced)
        var outcomes: [ReconfigureError?] = []
        for (answer, code) in [([4, 0], 0x1A), ([0, 0], 0x01)] as [([UInt8], UInt8)] {
            fixture.connection.reconfigure([channel], mtu: 300, mps: 80) { outcomes.append($0) }
            let identifier = try #require(fixture.link.takeSent(on: 5).first)[1]
            fixture.signal(code, identifier, answer)
        }
        #expect(outcomes == [.refused(.unacceptableParameters), .notUnderstood])
        #expect(channel.mtu == 200)
        #expect(channel.mps == 70)
        fixture.connection.reconfigure([channel], mtu: 300, mps: 80) { outcomes.append($0) }
        fixture.connection.reconfigure([channel], mtu: 300, mps: 80) { outcomes.append($0) }
        #expect(outcomes.last == .busy)
        fixture.loop.run(for: .seconds(30))
        #expect(outcomes.last == .timedOut)
        #expect(outcomes.count == 4)
        // Without a response, the peer may have adopted the larger sizes.
        #expect(channel.mtu == 300)
        #expect(channel.mps == 80)
    }

    @Test func requestsThatMayNotBeSent() throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(.enhanced, count: 2)
        fixture.answer(attempt, destinations: [0x50, 0x51])
        let plain = try fixture.open(.creditBased, destination: 0x52)
        var outcomes: [ReconfigureError?] = []
        let (one, both) = ([attempt.channels[0]], attempt.channels)
        let cases = [(one, 199, 70), (one, 200, 63), (both, 200, 69), ([plain], 300, 80), ([], 300, 80)]
        for (channels, mtu, mps) in cases + [(one, 65_536, 70), (one, 200, 65_534), (one + one, 200, 70)] {
            fixture.connection.reconfigure(channels, mtu: mtu, mps: mps) { outcomes.append($0) }
        }
        #expect(outcomes == Array(repeating: .notAllowed, count: 8))
        #expect(fixture.link.sent.isEmpty)
    }
}

@Suite struct ChannelClosingTests {
    private func expectDisconnecting(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(mode)
        channel.disconnect()
        let request = try #require(fixture.link.takeSent(on: 5).first)
        let numbers = le(0x50) + le(Int(channel.identifier.rawValue))
        #expect(request == [0x06, request[1], 4, 0] + numbers)
        #expect(fixture.closures == [.local])
        channel.disconnect()
        fixture.frame(le(1) + [1], on: channel)
        #expect(fixture.received.isEmpty)
        #expect(fixture.link.sent.isEmpty)
        // A response for other channels is ignored.
        fixture.signal(0x07, request[1], numbers.reversed())
        #expect(!fixture.connection.signalling.endpoints.isEmpty)
        fixture.signal(0x07, request[1], numbers)
        #expect(fixture.connection.signalling.endpoints.isEmpty)
        #expect(fixture.connection.signallingTimers.isEmpty)
        #expect(fixture.closures == [.local])
    }

    @Test("L2CAP/LE/CFC/BV-08: this side disconnects a credit-based channel")
    func weDisconnectACreditBasedChannel() throws { try expectDisconnecting(.creditBased) }

    @Test("L2CAP/ECFC/BV-08: this side disconnects an enhanced channel")
    func weDisconnectAnEnhancedChannel() throws { try expectDisconnecting(.enhanced) }

    private func expectDisconnected(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        let numbers = le(Int(channel.identifier.rawValue)) + le(0x40)
        #expect(fixture.signal(0x06, 77, numbers) == [[0x07, 77, 4, 0] + numbers])
        #expect(fixture.closures == [.peer])
        #expect(fixture.connection.signalling.endpoints.isEmpty)
        #expect(fixture.server.channels.isEmpty)
        #expect(throws: ChannelSendError.closed) { try channel.offer([1]) }
        fixture.signal(0x06, 78, numbers)
        #expect(fixture.closures == [.peer])
    }

    @Test("L2CAP/LE/CFC/BV-09: the peer disconnects a credit-based channel")
    func thePeerDisconnectsACreditBasedChannel() throws { try expectDisconnected(.creditBased) }

    @Test("L2CAP/ECFC/BV-09: the peer disconnects an enhanced channel")
    func thePeerDisconnectsAnEnhancedChannel() throws { try expectDisconnected(.enhanced) }

    private func expectUnknown(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        for number in [0x7F, 0, 0x0004, 0xFFFF] {
            let numbers = le(number) + le(0x40)
            #expect(fixture.signal(0x06, 8, numbers) == [[0x01, 8, 6, 0, 2, 0] + numbers])
        }
        // Our channel paired with another one of the peer: no answer (Vol 3 Part A 4.6).
        #expect(fixture.signal(0x06, 9, le(Int(channel.identifier.rawValue)) + le(0x41)).isEmpty)
        #expect(channel.closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-23: disconnecting an unknown credit-based channel is rejected")
    func unknownDestinationOfACreditBasedChannel() throws { try expectUnknown(.creditBased) }

    @Test("L2CAP/ECFC/BV-30: disconnecting an unknown enhanced channel is rejected")
    func unknownDestinationOfAnEnhancedChannel() throws { try expectUnknown(.enhanced) }

    @Test("AB-C08: both ends disconnect a channel at once")
    func bothEndsDisconnectAtOnce() throws {
        let small = ChannelParameters(mtu: 100, mps: 64, window: 4)
        let pair = try ChannelPair(.enhanced, near: small, far: small)
        var closures: [ChannelClosure?] = []
        pair.near.onClose = { [weak pair] in closures.append(pair?.near.closure) }
        pair.far.onClose = { [weak pair] in closures.append(pair?.far.closure) }
        pair.near.disconnect()
        pair.far.disconnect()
        pair.loop.run(for: .seconds(100))
        #expect(closures == [.local, .local])
        for connection in [pair.central, pair.peripheral] {
            #expect(connection.signalling.endpoints.isEmpty)
            #expect(connection.signalling.pending.isEmpty)
            #expect(connection.signallingTimers.isEmpty)
        }
    }

    /// The peer's request does as well as a response to ours, which a peer that has forgotten the channel never sends.
    @Test("AB-C08: a peer that has requested the disconnection itself need not answer")
    func crossedDisconnectionsNeedNoResponse() throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let channel = try fixture.accept(mode)
            let numbers = le(Int(channel.identifier.rawValue)) + le(0x40)
            channel.disconnect()
            #expect(fixture.link.takeSent(on: 5).map { $0[0] } == [0x06])
            #expect(fixture.signal(0x06, 77, numbers) == [[0x07, 77, 4, 0] + numbers])
            let connection = fixture.connection
            #expect(connection.signalling.endpoints.isEmpty)
            #expect(connection.signalling.pending.isEmpty)
            #expect(connection.signallingTimers.isEmpty)
            #expect(fixture.closures == [.local])
            #expect(try fixture.accept(mode).closure == nil)
        }
    }

    @Test("AB-C08: data cross the end of a channel")
    func dataAndTheEndCross() throws {
        let small = ChannelParameters(mtu: 100, mps: 64, window: 4)
        let pair = try ChannelPair(.creditBased, near: small, far: small)
        try pair.near.offer([1])
        pair.far.disconnect()
        try pair.near.offer([2])
        pair.loop.run(for: .seconds(1))
        #expect(pair.near.closure == .peer)
        #expect(pair.far.closure == .local)
        #expect(pair.received.isEmpty)
        #expect(pair.central.signalling.endpoints.isEmpty)
        #expect(pair.peripheral.signalling.endpoints.isEmpty)
    }

    @Test("AB-C08: the peer disconnects a channel that this side is still opening")
    func thePeerDisconnectsWhileOurOpenIsPending() throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let attempt = try fixture.ask(mode)
            let numbers = le(attempt.sources[0]) + le(0x50)
            #expect(fixture.signal(0x06, 9, numbers) == [[0x01, 9, 6, 0, 2, 0] + numbers])
            #expect(attempt.outcomes == 0)
            fixture.answer(attempt)
            #expect(attempt.channels.count == 1)
            #expect(attempt.outcomes == 1)
        }
    }

    @Test("AB-C08: a response after the time-out opens no channel")
    func anAnswerAfterTheTimeout() throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let attempt = try fixture.ask(mode)
            fixture.loop.run(for: .milliseconds(29_999))
            #expect(attempt.outcomes == 0)
            fixture.loop.run(for: .milliseconds(1))
            #expect(attempt.error == .timedOut)
            let requests = fixture.answer(attempt)
            try #require(requests.map(\.first) == [0x06])
            #expect(attempt.outcomes == 1)
            #expect(fixture.connection.creditBasedChannels.isEmpty)
            fixture.signal(0x07, requests[0][1], Array(requests[0][4...]))
            let channel = try fixture.open(mode)
            channel.disconnect()
            fixture.loop.run(for: .seconds(30))
            #expect(fixture.connection.signalling.endpoints.isEmpty)
            #expect(fixture.closures == [.local])
        }
    }

    @Test func theEndOfTheLinkIsToldOnceToEverybody() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.enhanced)
        let attempts = [try fixture.ask(.creditBased), try fixture.ask(.enhanced)]
        var outcomes: [ReconfigureError?] = []
        fixture.connection.reconfigure([channel], mtu: 300, mps: 80) { outcomes.append($0) }
        fixture.connection.close()
        fixture.connection.close()
        fixture.loop.run(for: .seconds(100))
        #expect(attempts.allSatisfy { $0.error == .closed && $0.outcomes == 1 })
        #expect(outcomes == [.closed])
        #expect(fixture.closures == [.linkLost])
        #expect(fixture.server.channels.isEmpty)
        var error: ChannelOpenError?
        fixture.connection.openChannel(on: channel.spsm) { if case .failure(let failure) = $0 { error = failure } }
        #expect(error == .closed)
    }

    /// Two channels with one identifier could not be distinguished.
    @Test(
        "AB-C08: the peer's channel identifier is in use until the peer has answered",
        arguments: [ChannelMode.creditBased, .enhanced]
    )
    func thePeersNumberIsInUseUntilItHasAnswered(mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        channel.disconnect()
        let request = try #require(fixture.link.takeSent(on: 5).first)
        let (result, channels) = try fixture.result(mode, sources: [0x40])
        #expect(result == 0x0A)
        #expect(channels == [0])
        #expect(fixture.incoming.count == 1)
        fixture.signal(0x07, request[1], Array(request[4...]))
        #expect(try fixture.accept(mode).closure == nil)
    }

    @Test func aNumberIsNotUsedAgainBeforeThePeerHasAnswered() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(.creditBased)
        channel.disconnect()
        #expect(fixture.link.takeSent(on: 5).count == 1)
        for _ in 0..<31 { _ = try fixture.accept(.creditBased, source: 0x60 + fixture.incoming.count % 31) }
        #expect(!fixture.incoming.contains { $0.identifier == channel.identifier })
        #expect(try fixture.result(.creditBased, sources: [0x5F]).result == 4)
    }
}
