import BluetoothTypes
import LoopbackLinks
import Testing

@testable import L2CAP

/// Channels that the peer requests.
@Suite struct ChannelAcceptingTests {
    private func expectAccepting(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let fields = try fixture.request(mode)
        let channel = try #require(fixture.incoming.first)
        let own = le(Int(channel.identifier.rawValue))
        let sizes = le(200) + le(70) + le(4)
        #expect(fields == (mode == .creditBased ? own + sizes + le(0) : sizes + le(0) + own))
        #expect(channel.identifier.isDynamic)
        #expect(channel.mode == mode)
        #expect(channel.spsm.rawValue == 0x80)
        try channel.offer([1, 2, 3])
        #expect(fixture.sentFrames() == [[3, 0, 1, 2, 3]])
        fixture.frame(le(2) + [8, 9], on: channel)
        #expect(fixture.received == [[8, 9]])
        #expect(fixture.server.channels.count == 1)
    }

    @Test("L2CAP/LE/CFC/BV-03: the peer opens a credit-based channel")
    func thePeerOpensACreditBasedChannel() throws { try expectAccepting(.creditBased) }

    @Test("L2CAP/ECFC/BV-03: the peer opens enhanced channels")
    func thePeerOpensEnhancedChannels() throws { try expectAccepting(.enhanced) }

    /// Expects this result with all other fields zero, and no channel left behind.
    private func expectRefusal(
        _ mode: ChannelMode,
        _ expected: ChannelResult,
        requirement: SecurityLevel = SecurityLevel.none,
        protection: LinkSecurity = LinkSecurity(),
        spsm: Int = 0x80,
        configure: (ChannelFixture) -> Void = { _ in }
    ) throws {
        let fixture = try ChannelFixture(requirement: requirement)
        fixture.connection.linkSecurity = protection
        configure(fixture)
        let sources = mode == .creditBased ? [0x40] : [0x40, 0x41, 0x42]
        let fields = try fixture.request(mode, spsm: spsm, sources: sources)
        let zeros = [UInt8](repeating: 0, count: mode == .creditBased ? 8 : 6)
        #expect(
            fields == zeros + le(Int(expected.rawValue)) + (mode == .creditBased ? [] : [0, 0, 0, 0, 0, 0])
        )
        #expect(fixture.incoming.isEmpty)
        #expect(fixture.connection.signalling.endpoints.isEmpty)
    }

    @Test("L2CAP/LE/CFC/BV-05: a credit-based channel on an unknown SPSM is refused")
    func unknownSPSM() throws {
        try expectRefusal(.creditBased, .spsmNotSupported, spsm: 0xF2)
    }

    private func expectSupportedAfterUnsupported(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        #expect(try fixture.result(mode, spsm: 0xF1).result == 2)
        #expect(try fixture.accept(mode).closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-22: a credit-based channel is opened after one on a refused SPSM")
    func unsupportedSPSMOfACreditBasedChannel() throws {
        try expectSupportedAfterUnsupported(.creditBased)
    }

    @Test("L2CAP/ECFC/BV-28: enhanced channels are opened after some on a refused SPSM")
    func unsupportedSPSMOfEnhancedChannels() throws {
        try expectRefusal(.enhanced, .spsmNotSupported, spsm: 0xF1)
        try expectSupportedAfterUnsupported(.enhanced)
    }

    // An unauthenticated key does not suffice, and neither does none.
    private func expectAuthentication(_ mode: ChannelMode) throws {
        let requirement = SecurityLevel.authenticated.with(keySize: 16)
        try expectRefusal(mode, .insufficientAuthentication, requirement: requirement)
        let weak = LinkSecurity(isEncrypted: true)
        try expectRefusal(mode, .insufficientAuthentication, requirement: requirement, protection: weak)
        let fixture = try ChannelFixture(requirement: requirement)
        fixture.connection.linkSecurity = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(try fixture.accept(mode).closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-11: a credit-based channel is refused for lack of authentication")
    func authenticationOfACreditBasedChannel() throws { try expectAuthentication(.creditBased) }

    @Test("L2CAP/ECFC/BV-11: enhanced channels are refused for lack of authentication")
    func authenticationOfEnhancedChannels() throws { try expectAuthentication(.enhanced) }

    private func expectAuthorization(_ mode: ChannelMode) throws {
        try expectRefusal(mode, .insufficientAuthorization) { $0.server.rules.authorize = { _ in false } }
    }

    @Test("L2CAP/LE/CFC/BV-13: a credit-based channel is refused for lack of authorization")
    func authorizationOfACreditBasedChannel() throws { try expectAuthorization(.creditBased) }

    @Test("L2CAP/ECFC/BV-13: enhanced channels are refused for lack of authorization")
    func authorizationOfEnhancedChannels() throws { try expectAuthorization(.enhanced) }

    private func expectKeySize(_ mode: ChannelMode) throws {
        for keySize in 7..<16 {
            try expectRefusal(
                mode,
                .encryptionKeySizeTooShort,
                requirement: SecurityLevel.encrypted.with(keySize: 16),
                protection: LinkSecurity(isEncrypted: true, keySize: keySize)
            )
        }
    }

    @Test("L2CAP/LE/CFC/BV-15: a credit-based channel is refused for a key that is too short")
    func keySizeOfACreditBasedChannel() throws { try expectKeySize(.creditBased) }

    @Test("L2CAP/ECFC/BV-15: enhanced channels are refused for a key that is too short")
    func keySizeOfEnhancedChannels() throws { try expectKeySize(.enhanced) }

    private func expectEncryption(_ mode: ChannelMode) throws {
        let protection = LinkSecurity(isEncrypted: false)
        let requirement = SecurityLevel.encrypted.with(keySize: 16)
        try expectRefusal(mode, .insufficientEncryption, requirement: requirement, protection: protection)
        let fixture = try ChannelFixture(requirement: requirement)
        fixture.connection.linkSecurity = LinkSecurity(isEncrypted: true)
        #expect(try fixture.accept(mode).closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-25: a credit-based channel is refused for lack of encryption")
    func encryptionOfACreditBasedChannel() throws { try expectEncryption(.creditBased) }

    @Test("L2CAP/ECFC/BV-32: enhanced channels are refused for lack of encryption")
    func encryptionOfEnhancedChannels() throws { try expectEncryption(.enhanced) }

    /// The user is not asked about a peer whose link is not secure enough (Core Vol 3 Part C 10.5): the user might
    /// agree without knowing which device it is.
    @Test(arguments: [ChannelMode.creditBased, .enhanced])
    func insufficientSecurityPrecedesAuthorization(mode: ChannelMode) throws {
        let fixture = try ChannelFixture(requirement: SecurityLevel.authenticated.with(keySize: 16))
        var asked = 0
        fixture.server.rules.authorize = { _ in
            asked += 1
            return false
        }
        let links: [(LinkSecurity, ChannelResult)] = [
            (LinkSecurity(), .insufficientAuthentication),
            (LinkSecurity(isEncrypted: true), .insufficientAuthentication),
            (LinkSecurity(isEncrypted: false, isAuthenticated: true), .insufficientEncryption),
            (LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 15), .encryptionKeySizeTooShort),
        ]
        for (protection, result) in links {
            fixture.connection.linkSecurity = protection
            #expect(try fixture.result(mode).result == Int(result.rawValue))
        }
        #expect(asked == 0)
        fixture.connection.linkSecurity = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(try fixture.result(mode).result == Int(ChannelResult.insufficientAuthorization.rawValue))
        #expect(asked == 1)
    }

    @Test("L2CAP/LE/CFC/BV-17: a credit-based channel is refused when there are no resources")
    func noResources() throws {
        try expectRefusal(.creditBased, .insufficientResources) { $0.server.rules.maximumChannelsPerLink = 0 }
        let fixture = try ChannelFixture()
        for source in 0x40..<0x60 { _ = try fixture.accept(.creditBased, source: source) }
        #expect(try fixture.result(.creditBased, sources: [0x60]).result == 4)
        #expect(fixture.connection.creditBasedChannels.count == L2CAPConnection.maximumDynamicChannels)
    }

    @Test("L2CAP/ECFC/BV-17: some of several enhanced channels are refused when there are no resources")
    func noResourcesForSome() throws {
        let fixture = try ChannelFixture()
        fixture.server.rules.maximumChannelsPerLink = 4
        _ = try fixture.accept(.enhanced, source: 0x40)
        let (result, channels) = try fixture.result(.enhanced, sources: [0x41, 0x42, 0x43, 0x44])
        #expect(result == 4)
        #expect(channels == fixture.incoming.dropFirst().map { Int($0.identifier.rawValue) } + [0])
        #expect(fixture.incoming.count == 4)
        try fixture.incoming[3].offer([9])
        #expect(fixture.sentFrames(to: 0x43) == [[1, 0, 9]])
        try expectRefusal(.enhanced, .insufficientResources) { $0.server.rules.maximumChannelsPerLink = 0 }
    }

    @Test("L2CAP/LE/CFC/BV-20: a credit-based channel is refused when its identifier is in use")
    func sourceOfACreditBasedChannelInUse() throws {
        let fixture = try ChannelFixture()
        let first = try fixture.accept(.creditBased, source: 0x45)
        let (result, channels) = try fixture.result(.creditBased, sources: [0x45])
        #expect(result == 0x0A)
        #expect(channels == [0])
        #expect(first.closure == nil)
        #expect(fixture.incoming.count == 1)
    }

    @Test("L2CAP/ECFC/BV-20: an enhanced channel is refused when its identifier is in use")
    func sourceOfAnEnhancedChannelInUse() throws {
        let fixture = try ChannelFixture()
        _ = try fixture.accept(.enhanced, source: 0x45)
        let (result, channels) = try fixture.result(.enhanced, sources: [0x44, 0x45])
        #expect(result == 0x0A)
        #expect(channels == [Int(fixture.incoming[1].identifier.rawValue), 0])
    }

    @Test(
        "L2CAP/ECFC/BV-26: enhanced channels with invalid parameters are refused",
        arguments: [(63, 64, 1), (0, 64, 1), (64, 63, 1), (64, 65_534, 1), (64, 64, 0)]
    )
    func invalidParameters(mtu: Int, mps: Int, credits: Int) throws {
        let fixture = try ChannelFixture()
        let (result, channels) = try fixture.result(
            .enhanced,
            mtu: mtu,
            mps: mps,
            credits: credits,
            sources: [0x40, 0x41]
        )
        #expect(result == 0x0C)
        #expect(channels == [0, 0])
        #expect(fixture.connection.signalling.endpoints.isEmpty)
    }

    @Test("L2CAP/ECFC/BV-27: enhanced channels with unacceptable parameters are refused")
    func unacceptableParameters() throws {
        let fixture = try ChannelFixture()
        fixture.server.rules.minimumPeerMTU = 128
        let (result, channels) = try fixture.result(.enhanced, mtu: 127)
        #expect(result == 0x0B)
        #expect(channels == [0])
        #expect(fixture.incoming.isEmpty)
        #expect(try fixture.result(.enhanced, mtu: 128).result == 0)
    }

    @Test(arguments: [(22, 64), (64, 22), (64, 65_534), (0, 0)])
    func sizesThatTheSpecificationForbids(mtu: Int, mps: Int) throws {
        let fixture = try ChannelFixture()
        #expect(try fixture.result(.creditBased, mtu: mtu, mps: mps).result == 0x0B)
        #expect(try fixture.result(.creditBased, mtu: 23, mps: 23, credits: 0).result == 0)
        #expect(try fixture.result(.creditBased, mtu: 65_535, mps: 65_533, sources: [0x41]).result == 0)
    }

    @Test("AB-C03: requests with impossible lists of channels are refused", arguments: [0, 1, 2, 3, 9, 11, 12])
    func impossibleChannelLists(octets: Int) throws {
        let fixture = try ChannelFixture()
        let list = (0..<octets).map { UInt8($0.isMultiple(of: 2) ? 0x40 + $0 / 2 : 0) }
        let fields = le(0x80) + le(64) + le(64) + le(1) + list
        let answers = fixture.signal(0x17, 5, fields)
        if octets == 2 {
            #expect(answers.first?[10...11] == [0, 0])
            #expect(fixture.incoming.count == 1)
            return
        }
        // The response covers every channel of the list that fits, with zero.
        let count = min(octets / 2, 5)
        let zeros = [UInt8](repeating: 0, count: 2 * count)
        #expect(answers == [[0x18, 5] + le(8 + 2 * count) + [0, 0, 0, 0, 0, 0, 0x0C, 0] + zeros])
        #expect(fixture.connection.signalling.endpoints.isEmpty)
    }

    @Test("AB-C03: inconsistent lists of channels are refused")
    func listsThatContradictThemselves() throws {
        for sources in [[0x40, 0x40], [0x40, 0x41, 0x40], [0x40, 0], [0, 0, 0, 0, 0]] {
            let fixture = try ChannelFixture()
            let (result, channels) = try fixture.result(.enhanced, sources: sources)
            #expect(result == 0x0C)
            #expect(channels == sources.map { _ in 0 })
            #expect(fixture.incoming.isEmpty)
        }
    }

    @Test(
        "AB-C03: channel identifiers outside the dynamic range are refused",
        arguments: [0x01, 0x04, 0x3F, 0x80, 0xFFFF]
    )
    func sourcesOutsideOfTheDynamicRange(source: Int) throws {
        let fixture = try ChannelFixture()
        #expect(try fixture.result(.creditBased, sources: [source]) == (9, [0]))
        #expect(fixture.connection.signalling.endpoints.isEmpty)
        let (result, channels) = try fixture.result(.enhanced, sources: [0x40, source])
        #expect(result == 9)
        #expect(channels == [Int(fixture.incoming[0].identifier.rawValue), 0])
        #expect(try fixture.result(.enhanced, sources: [source]).channels == [0])
        #expect(fixture.incoming.count == 1)
    }

    @Test(
        "AB-C06: a channel to an SPSM without a listener is refused",
        arguments: [0, 0x0004, 0x0005, 0x0027, 0x007F, 0x0100, 0x0180, 0xFFFF]
    )
    func channelsWithoutAListenerAreRefused(spsm: Int) throws {
        try expectRefusal(.creditBased, .spsmNotSupported, spsm: spsm)
        try expectRefusal(.enhanced, .spsmNotSupported, spsm: spsm)
    }

    @Test("AB-C06: a channel to a host without any server is refused")
    func withoutAnyServer() {
        let fixture = Fixture()
        let answers = fixture.signal([0x14, 4, 10, 0] + le(0x80) + le(0x40) + le(23) + le(23) + le(1))
        #expect(answers == [[0x15, 4, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]])
    }
}

@Suite struct ChannelServersTests {
    @Test("behaviours 8.1, 8.2: PSMs are assigned in the dynamic range")
    func numbersAreGivenOutInTheDynamicRange() throws {
        let servers = ChannelServers()
        var seen: Set<UInt16> = []
        for _ in 0..<128 { seen.insert(try servers.listen().spsm.rawValue) }
        #expect(seen == Set(0x80...0xFF))
        #expect(throws: ChannelListenError.exhausted) { try servers.listen() }
        servers.stopListening(on: SPSM(rawValue: 0x90))
        #expect(try servers.listen().spsm.rawValue == 0x90)
    }

    @Test func aNumberRestsBeforeItIsGivenOutAgain() throws {
        let servers = ChannelServers()
        let first = try servers.listen().spsm
        servers.stopListening(on: first)
        #expect(try servers.listen().spsm != first)
    }

    @Test func oneServiceANumber() throws {
        let servers = ChannelServers()
        _ = try servers.listen(on: .enhancedAttribute)
        #expect(throws: ChannelListenError.inUse(.enhancedAttribute)) { try servers.listen(on: .enhancedAttribute) }
        for number in [0, 0x100, 0xFFFF] as [UInt16] {
            let spsm = SPSM(rawValue: number)
            #expect(throws: ChannelListenError.invalid(spsm)) { try servers.listen(on: spsm) }
        }
    }

    @Test("behaviour 8.9: unpublishing a service closes its channels")
    func anUnpublishedServiceClosesItsChannels() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.creditBased)
        let other = try fixture.open(.creditBased)
        fixture.servers.stopListening(on: channel.spsm)
        #expect(channel.closure == .local)
        #expect(other.closure == nil)
        #expect(fixture.link.takeSent(on: 5).map { $0[0] } == [0x06])
        #expect(try fixture.result(.creditBased, sources: [0x41]).result == 2)
    }

    @Test func parametersAreMovedIntoTheirRange() {
        let least = ChannelParameters(mtu: 0, mps: -1, window: 0)
        #expect(least.mtu == 23)
        #expect(least.mps == 23)
        #expect(least.window == 1)
        let most = ChannelParameters(mtu: .max, mps: .max, window: .max)
        #expect(most.mtu == 65_535)
        #expect(most.mps == 65_533)
        #expect(most.window == ChannelParameters.maximumWindow)
    }
}
