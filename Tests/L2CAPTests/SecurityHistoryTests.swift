import BluetoothTypes
import EventLoops
import LoopbackLinks
import Testing

@testable import L2CAP

/// Data have the rights of the weakest security since they began to arrive.
@Suite struct SecurityHistoryTests {
    private static let clear = LinkSecurity()
    private static let encrypted = LinkSecurity(isEncrypted: true)
    private static let authenticated = LinkSecurity(isEncrypted: true, isAuthenticated: true)

    @Test func eachMomentHasTheWeakestSecuritySince() {
        var moments: [LinkMoment] = []
        var now = LinkMoment.first
        var history = SecurityHistory(Self.clear)
        for next in [Self.encrypted, Self.authenticated, Self.encrypted, Self.authenticated] {
            now.advance()
            moments.append(now)
            history.change(to: next, at: now)
        }
        now.advance()
        moments.append(now)
        let expected = [
            LinkSecurity(isEncrypted: false), Self.encrypted, Self.encrypted, Self.encrypted,
            Self.authenticated,
        ]
        #expect(moments.map(history.weakest) == expected)
        #expect(moments.map(history.isUnchanged) == [false, false, false, false, true])
        #expect(history.now == Self.authenticated)
    }

    /// AB-A02: the link was encrypted when the data arrived, and no longer is.
    @Test func lostSecurityAppliesToEarlierData() {
        var history = SecurityHistory(Self.encrypted)
        var now = LinkMoment.first
        now.advance()
        history.change(to: LinkSecurity(isEncrypted: false), at: now)
        #expect(!history.weakest(since: now).isEncrypted)
        history.change(to: Self.encrypted, at: now)
        #expect(!history.weakest(since: now).isEncrypted)
        now.advance()
        #expect(history.weakest(since: now).isEncrypted)
    }

    /// AB-A13: data that arrived over a link with a short key keep that key size.
    @Test func theShortestKeySinceCounts() {
        var now = LinkMoment.first
        let short = LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 7)
        let long = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        for (then, later) in [(short, long), (long, short)] {
            var history = SecurityHistory(then)
            now.advance()
            history.change(to: later, at: now)
            #expect(history.weakest(since: now) == short)
            now.advance()
            #expect(history.weakest(since: now) == later)
        }
        #expect(short.channelRefusal(of: SecurityLevel.encrypted.with(keySize: 16)) == .encryptionKeySizeTooShort)
    }

    /// However often the security changes, discarding old changes never strengthens the result.
    @Test func moreChangesThanAreKept() {
        var history = SecurityHistory(Self.clear)
        var now = LinkMoment.first
        for index in 0..<100 {
            now.advance()
            history.change(to: index % 2 == 0 ? Self.encrypted : Self.authenticated, at: now)
        }
        #expect(!history.weakest(since: .first).isEncrypted)
        var moment = LinkMoment.first
        moment.advance()
        // The first change can no longer be distinguished from the later ones.
        moment.advance()
        #expect(!history.weakest(since: moment).isEncrypted)
        #expect(history.weakest(since: now) == Self.encrypted)
    }
}

/// PDUs in transit when the link's security changes.
@Suite struct StraddlingTests {
    private static let encrypted = LinkSecurity(isEncrypted: true)

    private func request(_ identifier: UInt8, _ mode: ChannelMode) -> [UInt8] {
        let fields =
            mode == .creditBased
            ? le(ChannelFixture.spsm) + le(0x40) + le(100) + le(64) + le(10)
            : le(ChannelFixture.spsm) + le(100) + le(64) + le(10) + le(0x40)
        let command = [mode == .creditBased ? 0x14 : 0x17, identifier] + le(fields.count) + fields
        return le(command.count) + le(5) + command
    }

    /// The peer requests a channel that requires encryption; the request begins in the clear and ends when the link is
    /// encrypted.
    @Test(
        "AB-L08: a channel requested in the clear is not opened on the encrypted link",
        arguments: [ChannelMode.creditBased, .enhanced]
    )
    func aChannelAskedForInTheClearIsNotOpenedOnTheEncryptedLink(mode: ChannelMode) throws {
        for cut in 1..<request(1, mode).count {
            let fixture = try ChannelFixture(requirement: SecurityLevel.encrypted.with(keySize: 16))
            let octets = request(1, mode)
            fixture.link.onReceive?(PacketBuffer(Array(octets[..<cut])), true)
            fixture.connection.linkSecurity = Self.encrypted
            fixture.link.onReceive?(PacketBuffer(Array(octets[cut...])), false)
            fixture.loop.run(for: .zero)
            #expect(fixture.incoming.isEmpty, "cut at \(cut)")
            // A request that begins afterwards belongs to the encrypted peer.
            fixture.link.onReceive?(PacketBuffer(request(2, mode)), true)
            fixture.loop.run(for: .zero)
            #expect(fixture.incoming.count == 1, "cut at \(cut)")
        }
    }

    /// A channel receives the moment at which the first frame of an SDU began, also if the SDU has waited.
    @Test(arguments: [false, true])
    func anSDUHasTheMomentOfItsFirstFrame(isPaused: Bool) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.creditBased)
        var moments: [LinkMoment] = []
        channel.onReceive = { _, moment in moments.append(moment) }
        channel.isPaused = isPaused
        let before = channel.moment
        fixture.frame(le(4) + [1, 2], on: channel)
        let first = channel.moment
        #expect(first > before)
        fixture.frame([3, 4], on: channel)
        fixture.frame(le(1) + [5], on: channel)
        #expect(channel.moment > first)
        channel.isPaused = false
        #expect(moments == [first, channel.moment])
    }

    @Test func aPDUHasTheMomentOfItsFirstFragment() {
        let fixture = Fixture()
        var moments: [LinkMoment] = []
        fixture.channel.onReceive = { _, moment in moments.append(moment) }
        fixture.receive([[3, 0], [4, 0, 1], [2]])
        let first = fixture.connection.moment
        fixture.receive([[3]], startsAt: nil)
        #expect(moments == [first])
        #expect(first > .first)
        fixture.receive([[1, 0, 4, 0, 7]])
        #expect(moments.count == 2 && moments[1] > first)
    }

    /// The octets arrived before a listener existed, so the security at that time is unknown.
    @Test("AB-L08: data that waited for a listener do not count as encrypted")
    func dataWithoutAListenerDoNotCountAsEncrypted() throws {
        let loop = VirtualEventLoop()
        let (link, peer) = LoopbackLink.pair(loop: loop)
        let servers = ChannelServers()
        let server = try servers.listen(
            on: SPSM(rawValue: UInt16(ChannelFixture.spsm)),
            requirement: SecurityLevel.encrypted.with(keySize: 16)
        )
        peer.inject(Array(request(1, .creditBased).dropFirst(4)), on: 5)
        loop.run(for: .zero)
        let connection = L2CAPConnection(link: link, role: .peripheral, loop: loop, servers: servers)
        connection.linkSecurity = Self.encrypted
        loop.run(for: .zero)
        #expect(server.channels.isEmpty)
        #expect(link.takeSent(on: 5).count == 1)
        peer.inject(Array(request(2, .creditBased).dropFirst(4)), on: 5)
        loop.run(for: .zero)
        #expect(server.channels.count == 1)
    }
}
