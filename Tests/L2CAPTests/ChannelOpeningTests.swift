import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// Channels that this end requests.
@Suite struct ChannelOpeningTests {
    private func expectOpening(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(mode)
        let own = attempt.sources[0]
        let sizes = le(200) + le(70) + le(4)
        #expect(
            attempt.request
                == (mode == .creditBased
                    ? [0x14, 1, 10, 0] + le(0x80) + le(own) + sizes : [0x17, 1, 10, 0] + le(0x80) + sizes + le(own))
        )
        fixture.answer(attempt)
        let channel = try #require(attempt.channels.first)
        #expect(attempt.refusal == nil)
        #expect(channel.peerMTU == 100)
        #expect(channel.peerMPS == 64)
        #expect(channel.peerIdentifier.rawValue == 0x50)
        fixture.frame(le(3) + [1, 2, 3], on: channel)
        #expect(fixture.received == [[1, 2, 3]])
        try channel.offer([4, 5])
        #expect(fixture.sentFrames(to: 0x50) == [[2, 0, 4, 5]])
    }

    @Test("L2CAP/LE/CFC/BV-02: this side opens a credit-based channel")
    func weOpenACreditBasedChannel() throws { try expectOpening(.creditBased) }

    @Test("L2CAP/ECFC/BV-02: this side opens enhanced channels")
    func weOpenEnhancedChannels() throws { try expectOpening(.enhanced) }

    private func expectLegacyPeer(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(mode)
        #expect(fixture.signal(0x01, attempt.identifier, [0, 0]).isEmpty)
        #expect(attempt.error == .notUnderstood)
        #expect(fixture.connection.creditBasedChannels.isEmpty)
        #expect(try fixture.open(.creditBased).closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-01: an old peer rejects a request for a credit-based channel")
    func anOldPeerRejectsACreditBasedChannel() throws { try expectLegacyPeer(.creditBased) }

    @Test("L2CAP/ECFC/BV-01: an old peer rejects a request for enhanced channels")
    func anOldPeerRejectsEnhancedChannels() throws { try expectLegacyPeer(.enhanced) }

    /// The refusal is reported once, and nothing of the channels is left.
    private func expectRefusal(_ mode: ChannelMode, _ result: ChannelResult, spsm: Int = 0x80) throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(mode, spsm: spsm)
        fixture.answer(attempt, result: Int(result.rawValue), destinations: [0], mtu: 0, mps: 0, credits: 0)
        #expect(attempt.error == .refused(result))
        fixture.answer(attempt)
        fixture.loop.run(for: .seconds(100))
        #expect(attempt.outcomes == 1)
        #expect(fixture.connection.creditBasedChannels.isEmpty)
        #expect(fixture.connection.signalling.endpoints.isEmpty)
    }

    @Test("L2CAP/LE/CFC/BV-04: the peer refuses a credit-based channel for an unknown SPSM")
    func unknownSPSMOfACreditBasedChannel() throws {
        try expectRefusal(.creditBased, .spsmNotSupported, spsm: 0xF2)
    }

    @Test("L2CAP/ECFC/BV-04: the peer refuses enhanced channels for an unknown SPSM")
    func unknownSPSMOfEnhancedChannels() throws { try expectRefusal(.enhanced, .spsmNotSupported, spsm: 0xF2) }

    @Test("L2CAP/LE/CFC/BV-10: the peer refuses a credit-based channel for lack of authentication")
    func authenticationOfACreditBasedChannel() throws {
        try expectRefusal(.creditBased, .insufficientAuthentication)
    }

    @Test("L2CAP/ECFC/BV-10: the peer refuses enhanced channels for lack of authentication")
    func authenticationOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .insufficientAuthentication)
    }

    @Test("L2CAP/LE/CFC/BV-12: the peer refuses a credit-based channel for lack of authorization")
    func authorizationOfACreditBasedChannel() throws {
        try expectRefusal(.creditBased, .insufficientAuthorization)
    }

    @Test("L2CAP/ECFC/BV-12: the peer refuses enhanced channels for lack of authorization")
    func authorizationOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .insufficientAuthorization)
    }

    @Test("L2CAP/LE/CFC/BV-14: the peer refuses a credit-based channel for a key that is too short")
    func keySizeOfACreditBasedChannel() throws { try expectRefusal(.creditBased, .encryptionKeySizeTooShort) }

    @Test("L2CAP/ECFC/BV-14: the peer refuses enhanced channels for a key that is too short")
    func keySizeOfEnhancedChannels() throws { try expectRefusal(.enhanced, .encryptionKeySizeTooShort) }

    @Test("L2CAP/LE/CFC/BV-24: the peer refuses a credit-based channel for lack of encryption")
    func encryptionOfACreditBasedChannel() throws {
        try expectRefusal(.creditBased, .insufficientEncryption)
    }

    @Test("L2CAP/ECFC/BV-31: the peer refuses enhanced channels for lack of encryption")
    func encryptionOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .insufficientEncryption)
    }

    @Test("L2CAP/LE/CFC/BV-16: the peer refuses a credit-based channel for lack of resources")
    func resourcesOfACreditBasedChannel() throws { try expectRefusal(.creditBased, .insufficientResources) }

    @Test("L2CAP/ECFC/BV-16: the peer refuses some or all enhanced channels for lack of resources")
    func resourcesOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .insufficientResources)
        try expectPartialRefusal(.insufficientResources)
    }

    @Test("L2CAP/LE/CFC/BV-18: the peer refuses a credit-based channel for an invalid identifier")
    func invalidSourceOfACreditBasedChannel() throws { try expectRefusal(.creditBased, .invalidSource) }

    @Test("L2CAP/ECFC/BV-18: the peer refuses enhanced channels for invalid identifiers")
    func invalidSourceOfEnhancedChannels() throws { try expectPartialRefusal(.invalidSource) }

    @Test("L2CAP/LE/CFC/BV-19: the peer refuses a credit-based channel whose identifier is in use")
    func sourceOfACreditBasedChannelInUse() throws { try expectRefusal(.creditBased, .sourceAlreadyAllocated) }

    @Test("L2CAP/ECFC/BV-19: the peer refuses enhanced channels whose identifiers are in use")
    func sourceOfEnhancedChannelsInUse() throws { try expectPartialRefusal(.sourceAlreadyAllocated) }

    @Test("L2CAP/LE/CFC/BV-21: the peer refuses a credit-based channel for its parameters")
    func parametersOfACreditBasedChannel() throws {
        try expectRefusal(.creditBased, .unacceptableParameters)
    }

    @Test("L2CAP/ECFC/BV-21: the peer refuses enhanced channels for their parameters")
    func parametersOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .unacceptableParameters)
    }

    /// Some channels open, and the reason is reported for the others.
    private func expectPartialRefusal(_ result: ChannelResult) throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(.enhanced, count: 3)
        fixture.answer(attempt, result: Int(result.rawValue), destinations: [0x50, 0, 0x52])
        #expect(attempt.channels.map { Int($0.identifier.rawValue) } == [attempt.sources[0], attempt.sources[2]])
        #expect(attempt.channels.map(\.peerIdentifier.rawValue) == [0x50, 0x52])
        #expect(attempt.refusal == result)
        fixture.frame(le(1) + [7], on: attempt.channels[1])
        #expect(fixture.received == [[7]])
    }

    private func expectDynamicSources(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        var seen: [Int] = []
        for round in 0..<100 {
            let attempt = try fixture.ask(mode, count: mode == .enhanced ? 5 : 1)
            #expect(attempt.sources.allSatisfy { (0x40...0x7F).contains($0) })
            #expect(Set(attempt.sources).count == attempt.sources.count)
            if round < 12 { seen += attempt.sources }
            fixture.answer(attempt, result: 4, destinations: [0])
        }
        #expect(Set(seen).count == seen.count, "an identifier is not reused at once")
    }

    @Test("L2CAP/LE/CFC/BV-29: this side's identifiers of credit-based channels are in the dynamic range")
    func sourceOfACreditBasedChannelIsDynamic() throws { try expectDynamicSources(.creditBased) }

    @Test("L2CAP/ECFC/BV-38: this side's identifiers of enhanced channels are in the dynamic range")
    func sourcesOfEnhancedChannelsAreDynamic() throws { try expectDynamicSources(.enhanced) }

    @Test("L2CAP/ECFC/BV-29: neither of two channels with one identifier is used")
    func neitherChannelOfADuplicateIsUsed() throws {
        let fixture = try ChannelFixture()
        let original = try fixture.open(.enhanced)
        let attempt = try fixture.ask(.enhanced)
        let sent = fixture.answer(attempt, destinations: [0x50])
        #expect(attempt.error == .invalidResponse)
        #expect(original.closure == .violation(.duplicateChannel))
        #expect(sent.map { $0[0] } == [0x06], "the original is disconnected")
        fixture.frame(le(1) + [7], on: original)
        #expect(fixture.received.isEmpty)
        #expect(throws: ChannelSendError.closed) { try original.offer([1]) }
    }

    @Test("L2CAP/ECFC/BI-07: new channels that share an identifier are discarded")
    func newChannelsThatShareANumberAreDiscarded() throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(.enhanced, count: 3)
        fixture.answer(attempt, destinations: [0x50, 0x50, 0x51])
        #expect(attempt.channels.map(\.peerIdentifier.rawValue) == [0x51])
        #expect(fixture.connection.creditBasedChannels.count == 1)
    }

    @Test(arguments: [[0x3F], [0x80], [0x04], [0xFFFF]])
    func impossibleDestinationsOpenNothing(destinations: [Int]) throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let attempt = try fixture.ask(mode)
            #expect(fixture.answer(attempt, destinations: destinations).isEmpty)
            #expect(attempt.error == .invalidResponse)
            #expect(fixture.connection.signalling.endpoints.isEmpty)
        }
    }

    @Test(arguments: [(22, 64), (100, 22), (100, 65_534), (0, 0)])
    func impossibleSizesEndTheChannel(mtu: Int, mps: Int) throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let attempt = try fixture.ask(mode)
            let sent = fixture.answer(attempt, mtu: mtu, mps: mps)
            #expect(attempt.error == .invalidResponse)
            #expect(sent.map { Array($0[4...]) } == [le(0x50) + le(attempt.sources[0])])
        }
    }

    @Test("AB-C05: a response that does not match the request is ignored")
    func answersOfAnotherShape() throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(.enhanced, count: 3)
        let identifier = attempt.identifier
        let good = le(100) + le(64) + le(1) + le(0)
        // Too short, odd, of another kind, or with another identifier: none of these is the response.
        for length in 0..<8 { #expect(fixture.signal(0x18, identifier, Array(good.prefix(length))).isEmpty) }
        #expect(fixture.signal(0x18, identifier, good + [0x50]).isEmpty)
        #expect(fixture.signal(0x18, identifier, good + (0..<6).flatMap { le(0x50 + $0) }).isEmpty)
        #expect(fixture.signal(0x1A, identifier, [0, 0]).isEmpty)
        #expect(fixture.signal(0x15, identifier, le(0x50) + good).isEmpty)
        #expect(fixture.signal(0x18, identifier &+ 1, good + le(0x50)).isEmpty)
        #expect(attempt.outcomes == 0)
        #expect(fixture.discards.allSatisfy { if case .signalling(.unexpected) = $0 { true } else { false } })
        // Shorter than the list: the remaining channels are refused.
        fixture.signal(0x18, identifier, good + le(0x50))
        #expect(attempt.channels.count == 1)
        #expect(fixture.connection.signalling.endpoints.count == 1)
    }

    /// A result that refuses all channels does so whatever identifiers follow it (Core Vol 3 Part A 4.26, table of
    /// results).
    @Test(
        "AB-C05: a refusal that names channels refuses all of them",
        arguments: [0x0002, 0x0005, 0x0006, 0x0007, 0x0008, 0x000B, 0x000C, 0x0010, 0xFFFF]
    )
    func aRefusalThatNamesChannels(result: Int) throws {
        for mode in [ChannelMode.creditBased, .enhanced] {
            let fixture = try ChannelFixture()
            let attempt = try fixture.ask(mode, count: mode == .enhanced ? 2 : 1)
            fixture.answer(attempt, result: result, destinations: mode == .enhanced ? [0x50, 0x51] : [0x50])
            #expect(attempt.error == .refused(ChannelResult(rawValue: UInt16(result))))
            #expect(attempt.channels.isEmpty)
            #expect(fixture.connection.signalling.endpoints.isEmpty)
            #expect(fixture.connection.creditBasedChannels.isEmpty)
            #expect(fixture.incoming.isEmpty)
        }
    }

    @Test("AB-C05: a reconfiguration response is exactly two octets")
    func aReconfigureResponseOfTwoOctets() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.open(.enhanced)
        var outcomes: [ReconfigureError?] = []
        fixture.connection.reconfigure([channel], mtu: 300, mps: 70) { outcomes.append($0) }
        let identifier = try #require(fixture.link.takeSent(on: 5).first)[1]
        for fields in [[], [0], [0, 0, 0]] as [[UInt8]] { fixture.signal(0x1A, identifier, fields) }
        #expect(outcomes.isEmpty)
        fixture.signal(0x1A, identifier, [0, 0])
        #expect(outcomes == [nil])
    }

    @Test func requestsThatMayNotBeSent() throws {
        let fixture = try ChannelFixture()
        var errors: [ChannelOpenError] = []
        for spsm in [0, 0x100, 0xFFFF] as [UInt16] {
            fixture.connection.openChannel(on: SPSM(rawValue: spsm)) {
                if case .failure(let error) = $0 { errors.append(error) }
            }
        }
        for count in [0, 6] {
            fixture.connection.openEnhancedChannels(count, on: SPSM(rawValue: 0x80)) {
                if case .failure(let error) = $0 { errors.append(error) }
            }
        }
        #expect(errors == Array(repeating: .notAllowed, count: 5))
        #expect(fixture.link.sent.isEmpty)
    }

    @Test func channelsAndRequestsAreBounded() throws {
        let fixture = try ChannelFixture()
        var attempts: [OpenAttempt] = []
        for _ in 0..<6 { attempts.append(try fixture.ask(.enhanced, count: 5)) }
        var error: ChannelOpenError?
        fixture.connection.openEnhancedChannels(5, on: SPSM(rawValue: 0x80)) {
            if case .failure(let failure) = $0 { error = failure }
        }
        #expect(error == .noResources)
        #expect(fixture.connection.signalling.endpoints.count == 30)
        fixture.loop.run(for: .seconds(30))
        #expect(attempts.allSatisfy { $0.error == .timedOut })
        #expect(fixture.connection.signalling.endpoints.isEmpty)
        for _ in 0..<16 { attempts.append(try fixture.ask(.creditBased)) }
        fixture.connection.openChannel(on: SPSM(rawValue: 0x80)) {
            if case .failure(let failure) = $0 { error = failure }
        }
        #expect(error == .noResources)
        #expect(Set(attempts.suffix(16).map(\.identifier)).count == 16)
    }

    @Test func thePendingAnswerExtendsTheTimerOnce() throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(.enhanced)
        for result in [0x0D, 0x0E, 0x0F] {
            fixture.loop.run(for: .seconds(25))
            fixture.answer(attempt, result: result, destinations: [0])
            #expect(attempt.outcomes == 0)
        }
        fixture.loop.run(for: .seconds(9))
        #expect(attempt.outcomes == 0)
        fixture.loop.run(for: .seconds(1))
        #expect(attempt.error == .timedOut)
        let other = try fixture.ask(.enhanced)
        fixture.answer(other, result: 0x0D, destinations: [0])
        fixture.loop.run(for: .seconds(59))
        fixture.answer(other)
        #expect(other.channels.count == 1)
    }

    // The peer would keep the channels for the life of the link, and refuse others from the same identifiers.
    @Test(
        "a response that is too late closes the channels that it opens",
        arguments: [ChannelMode.creditBased, .enhanced]
    )
    func aLateResponseClosesItsChannels(mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let attempt = try fixture.ask(mode)
        fixture.loop.run(for: .seconds(30))
        #expect(attempt.error == .timedOut)
        let requests = fixture.answer(attempt, destinations: [0x50])
        try #require(requests.count == 1)
        #expect(requests[0].first == 0x06)
        #expect(Array(requests[0][4...]) == le(0x50) + le(attempt.sources[0]))
        #expect(fixture.answer(attempt, destinations: [0x50]).isEmpty)
        fixture.signal(0x07, requests[0][1], le(0x50) + le(attempt.sources[0]))
        #expect(fixture.connection.signalling.endpoints.isEmpty)
        #expect(attempt.outcomes == 1)
    }

    @Test func identifiersThatWaitAreLeftOut() throws {
        let fixture = try ChannelFixture()
        let waiting = try fixture.ask(.creditBased)
        var seen: Set<UInt8> = []
        for _ in 0..<300 {
            let attempt = try fixture.ask(.enhanced)
            seen.insert(attempt.identifier)
            fixture.answer(attempt, result: 4, destinations: [])
        }
        #expect(!seen.contains(0))
        #expect(!seen.contains(waiting.identifier))
        #expect(seen.count == 254)
    }
}
