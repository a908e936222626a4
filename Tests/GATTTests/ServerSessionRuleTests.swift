import ATT
import BluetoothTypes
import EventLoops
import Testing

@testable import GATT

/// Effects of a session's end, idempotent inputs, and the defaults of a link.
@Suite struct ServerSessionRuleTests {
    private let fixture: ServerFixture
    private let client: BareClient
    private var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        client = fixture.bareClient()
    }

    private func prepare(_ handle: UInt8, _ offset: UInt8, _ value: [UInt8]) {
        #expect(client.exchange([0x16, handle, 0, offset, 0] + value).first == 0x17)
    }

    /// The link may outlive its session.
    @Test func detachedSessionsServeNothing() throws {
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        let more = client.addBearer(on: 0x40)
        client.session.onSecurityNeeded = { _ in }
        client.session.verifySignature = { _, _ in true }
        prepare(28, 0, [1])
        fixture.server.detach(client.session)
        // The session holds no closure that retains another object.
        #expect(client.session.onSecurityNeeded == nil)
        #expect(client.session.verifySignature == nil)
        #expect(client.session.prepared.parts.isEmpty)
        #expect(client.session.bearers.isEmpty)
        #expect(client.session.isClosed)
        for channel: UInt16 in [4, 0x40] {
            // As on a bearer that was never served.
            let answer = client.exchange([0x0A, 14, 0], on: channel)
            #expect(answer == client.error(0x0A, 0, .requestNotSupported))
            #expect(client.exchange([0x52, 28, 0, 1], on: channel).isEmpty)
        }
        #expect(app.writes.isEmpty)
        #expect(app.configurations == ["23: 0-1", "23: 1-0"])
        #expect([client.session.bearer, more].allSatisfy { $0.onNotificationRoom == nil })
    }

    /// Further input from its owner changes nothing, and is not reported.
    @Test func aSessionThatHasEndedTakesUpNothing() {
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        fixture.server.detach(client.session)
        let (record, told, records) = (client.session.record, app.configurations, app.records)
        #expect(record.configurations == [23: .notify])
        #expect(records.last == record)
        var asked = 0
        client.session.onSecurityNeeded = { _ in asked += 1 }
        client.session.restore(ClientRecord(configurations: [8: .indicate, 23: .indicate], features: .robustCaching))
        client.session.security = LinkSecurity(isEncrypted: true)
        fixture.loop.run(for: .seconds(5))
        #expect(client.session.configurations.isEmpty)
        #expect(client.session.features.isEmpty)
        #expect(client.session.record == record)
        #expect(app.configurations == told)
        #expect(app.records == records)
        #expect(asked == 0)
    }

    /// Changes are collected for a second.
    @Test("AB-A11: a client's record is reported a second after it changed")
    func theRecordIsToldAfterASecond() {
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        fixture.loop.run(for: .milliseconds(900))
        #expect(client.exchange([0x12, 24, 0, 2, 0]) == [0x13])
        #expect(app.records.isEmpty)
        fixture.loop.run(for: .milliseconds(100))
        #expect(app.records.map(\.configurations) == [[23: .indicate]])
        // The next second starts with the next change.
        fixture.loop.run(for: .milliseconds(200))
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        fixture.loop.run(for: .milliseconds(999))
        #expect(app.records.count == 1)
        fixture.loop.run(for: .milliseconds(1))
        #expect(app.records.map(\.configurations) == [[23: .indicate], [23: .notify]])
    }

    /// A removed bearer is not served, whether or not it is closed; the others are.
    @Test func removedBearersAreNotServed() {
        let more = client.addBearer(on: 0x40)
        client.session.remove(more)
        #expect(client.exchange([0x0A, 14, 0], on: 0x40) == client.error(0x0A, 0, .requestNotSupported))
        #expect(client.exchange([0x52, 28, 0, 1], on: 0x40).isEmpty)
        #expect(app.writes.isEmpty)
        #expect(more.onNotificationRoom == nil)
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
    }

    /// The next bearer may have the same place in memory, but is a different one (Core Vol 3 Part G 2.5.2.1).
    @Test("AB-A11: a bearer that replaces a closed one is refused too")
    func aBearerThatTakesTheOnesPlaceIsRefusedToo() throws {
        let more = client.addBearer(on: 0x40)
        #expect(client.exchange([0x12, 11, 0, 1]) == [0x13])
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        let refusal = client.error(0x0A, 14, .databaseOutOfSync)
        #expect(client.exchange([0x0A, 14, 0], on: 0x40) == refusal)
        #expect(client.exchange([0x0A, 14, 0], on: 0x40) == [0x0B, 0x64])
        client.session.remove(more)
        #expect(client.session.add(more))
        #expect(client.exchange([0x0A, 14, 0], on: 0x40) == refusal)
    }

    /// The owner may report the same security any number of times.
    @Test func theSameSecurityAgainIsNoChange() throws {
        let value = try fixture.publish(.report(.notify, notifiedAt: .encrypted))
        // The other client's record, which the change updates.
        fixture.loop.run(for: .seconds(2))
        app.records = []
        let client = fixture.bareClient()
        var asked = 0
        client.session.onSecurityNeeded = { _ in asked += 1 }
        for _ in 0..<2 { client.session.security = LinkSecurity() }
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.isEmpty)
        client.session.security = LinkSecurity(isEncrypted: false)
        client.session.restore(ClientRecord(configurations: [value: .notify]))
        #expect(asked == 1)
        for _ in 0..<2 {
            client.session.security = LinkSecurity(isEncrypted: false)
            #expect(fixture.server.update([1], of: value))
        }
        #expect(asked == 1)
    }

    /// A client may have missed a change that it has not confirmed (Core Vol 3 Part G 7.1).
    @Test(arguments: [false, true])
    func aChangeThatIsNotConfirmedIsRemembered(isConfirmed: Bool) throws {
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        let added = try fixture.database.add(ServiceDefinition(0x1805)).handles
        let told = try #require(client.sent().first)
        #expect(told.prefix(3) == [0x1D, 8, 0])
        let changed = (UInt16(told[3]) | UInt16(told[4]) << 8)...(UInt16(told[5]) | UInt16(told[6]) << 8)
        #expect(changed.contains(added.lowerBound))
        #expect(client.session.record.missedChanges == [changed])
        if isConfirmed { client.exchange([0x1E]) }
        fixture.server.detach(client.session)
        #expect(client.session.record.missedChanges == (isConfirmed ? [] : [changed]))
    }

    /// A fixed-length value keeps the octets after a part; a variable-length value ends with it (Core Vol 3 Part F
    /// 3.4.5.1).
    @Test func aPartWithoutOctetsEndsAValueOfVariableLength() {
        prepare(11, 0, [1])
        prepare(11, 0, [])
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 11, .invalidAttributeValueLength))
        #expect(client.session.features.isEmpty)
        prepare(24, 0, [1, 0])
        prepare(24, 0, [])
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(client.session.configurations == [23: .notify])
    }

    /// An app that answers twice: only the first answer counts.
    @Test(arguments: [nil, ATTErrorCode.valueNotAllowed])
    func onlyTheFirstAnswerToAWriteCounts(first: ATTErrorCode?) throws {
        app.isSlow = true
        prepare(24, 0, [1, 0])
        prepare(28, 0, [7])
        #expect(client.exchange([0x18, 1]).isEmpty)
        let write = try #require(app.writes.first)
        write.respond(first)
        let answer = first.map { client.error(0x18, 28, $0) } ?? [0x19]
        #expect(client.sent() == [answer])
        #expect(client.session.configurations == (first == nil ? [23: .notify] : [:]))
        // The client's later choice stays.
        #expect(client.exchange([0x12, 24, 0, 2, 0]) == [0x13])
        for second in [nil, ATTErrorCode.unlikelyError] { write.respond(second) }
        #expect(client.sent().isEmpty)
        #expect(client.session.configurations == [23: .indicate])
    }

    @Test func onlyTheFirstAnswerToAReadCounts() throws {
        app.isSlow = true
        #expect(client.exchange([0x0E, 17, 0, 28, 0]).isEmpty)
        app.reads[0].respond(.success([1]))
        for late in [.success([2]), .failure(.unlikelyError)] as [Result<PacketBuffer, ATTErrorCode>] {
            app.reads[0].respond(late)
        }
        #expect(app.reads.map(\.handle) == [17, 28])
        #expect(client.sent().isEmpty)
        app.reads[1].respond(.success([3]))
        #expect(client.sent() == [[0x0F, 1, 3]])
    }

    @Test func withoutAnAppItsValuesAreUnlikely() {
        fixture.server.delegate = nil
        #expect(client.exchange([0x0A, 28, 0]) == client.error(0x0A, 28, .unlikelyError))
        #expect(client.exchange([0x12, 28, 0, 1]) == client.error(0x12, 28, .unlikelyError))
        prepare(24, 0, [1, 0])
        prepare(29, 0, [7])
        prepare(28, 0, [7])
        #expect(client.exchange([0x18, 1]) == client.error(0x18, 29, .unlikelyError))
        #expect(client.session.configurations.isEmpty)
        // The client's own configurations are served by the server.
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
    }

    /// Neither a value that does not accept them, nor a descriptor, nor a declaration (Core Vol 3 Part G 3.3.1.1).
    @Test("AB-A12: a signature writes only to values that accept signed writes")
    func aSignatureWritesOnlyWhatTakesSignedWrites() throws {
        var checked = 0
        client.session.verifySignature = { _, _ in
            checked += 1
            return true
        }
        let signature = [UInt8](repeating: 0, count: 12)
        for handle in 1...33 as ClosedRange<UInt8> {
            #expect(client.exchange([0xD2, handle, 0, 1, 0] + signature).isEmpty)
        }
        #expect(app.writes.isEmpty)
        #expect(client.session.configurations.isEmpty)
        #expect(client.session.features.isEmpty)
        #expect(checked == 33)
    }
}

/// A link's security as a value type.
@Suite struct LinkSecurityValueTests {
    private static let all: [LinkSecurity] = (0..<8).flatMap { bits in
        [7, 15, 16].map {
            LinkSecurity(
                isEncrypted: bits & 1 != 0,
                isAuthenticated: bits & 2 != 0,
                isSecureConnections: bits & 4 != 0,
                keySize: $0
            )
        }
    }

    @Test func noSecurityIsNone() {
        let none = LinkSecurity()
        #expect(none == LinkSecurity(isEncrypted: false, hasKey: false))
        #expect(none.encryption == nil)
        #expect(none.usableKey == nil)
        #expect(!none.isEncrypted)
        #expect(!none.isAuthenticated)
        #expect(!none.isSecureConnections)
        #expect(!none.hasKey)
        #expect(!none.isAuthorized)
        #expect(!none.isSecureConnectionsOnly)
    }

    @Test("AB-A02: two kinds of security combine to what both provide", arguments: all, all)
    func theWeakerOfTwoIsWhatBothGive(earlier: LinkSecurity, later: LinkSecurity) {
        var (earlier, later) = (earlier, later)
        (earlier.hasKey, earlier.isAuthorized, earlier.isSecureConnectionsOnly) = (false, true, true)
        let both = earlier.limited(by: later)
        #expect(both.isEncrypted == (earlier.isEncrypted && later.isEncrypted))
        #expect(both.isAuthenticated == (earlier.isAuthenticated && later.isAuthenticated))
        #expect(both.isSecureConnections == (earlier.isSecureConnections && later.isSecureConnections))
        let sizes = [earlier, later].compactMap(\.encryption?.keySize)
        #expect(both.encryption?.keySize == (sizes.count == 2 ? sizes.min() : nil))
        // Properties that do not depend on the link are those of the later one.
        #expect(both.hasKey)
        #expect(!both.isAuthorized)
        #expect(!both.isSecureConnectionsOnly)
        later.hasKey = false
        (later.isAuthorized, later.isSecureConnectionsOnly) = (true, true)
        let again = earlier.limited(by: later)
        #expect(!again.hasKey)
        #expect(again.isAuthorized)
        #expect(again.isSecureConnectionsOnly)
    }
}
