import ATT
import BluetoothTypes
import EventLoops
import Testing

@testable import GATT

/// The exact limits of the server, and the client state it keeps across changes.
@Suite struct ServerBoundsTests {
    let fixture: ServerFixture
    let client: BareClient
    var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        client = fixture.bareClient()
    }

    private func prepare(_ count: Int) -> [UInt8] {
        client.exchange([0x16, 28, 0, 0, 0] + [UInt8](repeating: 1, count: count))
    }

    /// Parts that fill the quota of octets exactly are accepted in any sizes (Core Vol 3 Part F 3.4.6.1).
    @Test(
        "AB-A01: the quota of octets for prepared writes may be filled exactly",
        arguments: [
            Array(repeating: 512, count: 16), Array(repeating: 512, count: 15) + [511, 1],
            [1] + Array(repeating: 512, count: 15) + [511],
        ]
    )
    func theQuotaOfOctetsMayBeFilledExactly(sizes: [Int]) {
        client.agree(517)
        #expect(sizes.reduce(0, +) == 8192)
        for round in 1...2 {
            for size in sizes { #expect(prepare(size).first == 0x17, "round \(round)") }
            #expect(prepare(1) == client.error(0x16, 28, .prepareQueueFull))
            // An empty part takes no space.
            #expect(prepare(0).first == 0x17)
            #expect(client.exchange([0x18, 0]) == [0x19])
        }
    }

    @Test("AB-A01: the quota of parts for prepared writes may be filled exactly")
    func theQuotaOfPartsMayBeFilledExactly() {
        for _ in 1...128 { #expect(prepare(0).first == 0x17) }
        #expect(prepare(0) == client.error(0x16, 28, .prepareQueueFull))
        #expect(client.exchange([0x18, 0]) == [0x19])
        #expect(prepare(0).first == 0x17)
    }

    /// Kept for a minute after the last part; an execution starts a new queue, with a minute of its own.
    @Test("AB-A01: a queue of prepared writes is kept for a minute", arguments: [(59_999, true), (60_000, false)])
    func aQueueIsKeptForAMinute(milliseconds: Int, isKept: Bool) {
        #expect(prepare(1).first == 0x17)
        fixture.loop.run(for: .seconds(30))
        #expect(client.exchange([0x18, 0]) == [0x19])
        fixture.loop.run(for: .seconds(10))
        for _ in 0..<2 {
            #expect(prepare(1).first == 0x17)
            fixture.loop.run(for: .milliseconds(milliseconds))
            let answer = client.exchange([0x18, 1])
            #expect(answer == (isKept ? [0x19] : client.error(0x18, 0, .writeRequestRejected)))
        }
        #expect(app.writes.count == (isKept ? 2 : 0))
    }

    /// Notifications, indications, both, and none (Core Vol 3 Part G 3.3.3.3).
    @Test(arguments: [0, 1, 2, 3] as [UInt8])
    func aConfigurationReadsAsItWasWritten(bits: UInt8) {
        #expect(client.exchange([0x12, 24, 0, bits, 0]) == [0x13])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, bits, 0])
        #expect(client.exchange([0x0C, 24, 0, 1, 0]) == [0x0D, 0])
    }

    /// A choice about a removed attribute does not apply to its successor; the stored record does.
    @Test func aChoiceEndsWithTheAttributeThatItWasAbout() throws {
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        try fixture.database.remove(19)
        let again = try putInPlace()
        #expect(again.characteristics[1].value == 23)
        #expect(client.session.configurations.isEmpty)
        let record = ClientRecord(configurations: [23: .indicate], databaseHash: fixture.database.hash)
        client.session.restore(record)
        #expect(client.session.configurations == [23: .indicate])
        #expect(client.exchange([0x0A, 24, 0]) == [0x0B, 2, 0])
        // A choice about the new attribute takes precedence over the record.
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        client.session.restore(record)
        #expect(client.session.configurations == [23: .notify])
    }

    /// Publishes a service whose second value has handle 23, once fresh handles have run out.
    private func putInPlace() throws -> PublishedService {
        let filler = CharacteristicDefinition(0x2A00, properties: .read, permissions: .readable)
        let long = ServiceDefinition(0x1805, characteristics: Array(repeating: filler, count: 2000))
        var start: UInt16 = 0
        while start < 60_000 {
            start = try fixture.database.add(long).handles.lowerBound
            try fixture.database.remove(start)
        }
        // Too long for the end of the range, the next service goes to the first gap.
        let both = CharacteristicDefinition(
            0x2A37,
            properties: [.notify, .indicate],
            permissions: AttributePermissions()
        )
        let wide = ServiceDefinition(
            0x180D,
            characteristics: [filler, both] + Array(repeating: filler, count: 1_000)
        )
        return try fixture.database.add(wide)
    }

    /// A bonded client's record follows its knowledge of the database (Core Vol 3 Part G 2.5.2.1): updated by its
    /// second request after a refusal, or by one after it has read the hash.
    @Test(
        "GATT/SR/GAS/BV-06: the record stores whether the client is aware of a change",
        arguments: [[0x0A, 16, 0], [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]] as [[UInt8]]
    )
    func theRecordSaysWhenTheClientKnowsOfAChange(first: [UInt8]) throws {
        let fixture = try ServerFixture(hasHash: true)
        let client = fixture.bareClient()
        #expect(client.exchange([0x12, 11, 0, 1]) == [0x13])
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.last?.isChangeAware == false)
        client.exchange(first)
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.last?.isChangeAware == false)
        let count = fixture.app.records.count
        #expect(client.exchange([0x0A, 16, 0]) == [0x0B, 0x64])
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.count == count + 1)
        #expect(fixture.app.records.last?.isChangeAware == true)
    }
}

/// Handle ranges beyond their maximum number.
@Suite struct HandleRangesBoundTests {
    /// 17 ranges of two handles, ten handles apart, except for a distance of `gap` before one of them.
    private func ranges(_ gap: UInt16, before place: Int) -> [ClosedRange<UInt16>] {
        var start: UInt16 = 100
        return (0...16).map { index in
            if index > 0 { start += 1 + (index == place ? gap : 10) }
            defer { start += 1 }
            return start...(start + 1)
        }
    }

    @Test(arguments: 1...16)
    func ofTooManyTheTwoThatAreClosestBecomeOne(place: Int) {
        let all = ranges(3, before: place)
        var expected = all
        expected[(place - 1)...place] = [all[place - 1].lowerBound...all[place].upperBound]
        for order in [all, all.reversed()] {
            var result = HandleRanges()
            for range in order { result.insert(range) }
            #expect(result.ranges == expected)
            #expect(result.ranges.count == 16)
        }
    }

    /// With a larger distance at one place, any two ranges but those are joined.
    @Test(arguments: 1...16)
    func theTwoThatAreFurthestApartStayTwo(place: Int) {
        let all = ranges(11, before: place)
        var result = HandleRanges()
        for range in all { result.insert(range) }
        #expect(result.ranges.count == 16)
        #expect(result.ranges.contains { $0.lowerBound == all[place].lowerBound })
    }
}

/// The security that a value requires of a link, by procedure (Core Vol 3 Part C 10.3.1.1).
@Suite struct SubscriptionRuleTests {
    private static let both: ClientConfiguration = [.notify, .indicate]

    @Test(
        arguments: [
            (both, .encrypted, .authenticated, .encrypted), (both, .authenticated, .encrypted, .encrypted),
            (.notify, .authenticated, .none, .authenticated), (.indicate, .none, .authenticated, .authenticated),
            (both, .none, .secureConnections, .none),
        ] as [(ClientConfiguration, SecurityLevel, SecurityLevel, SecurityLevel)]
    )
    func theLeastIsThatOfTheWaysThatThereAre(
        choices: ClientConfiguration,
        notification: SecurityLevel,
        indication: SecurityLevel,
        least: SecurityLevel
    ) {
        let rule = SubscriptionRule(choices: choices, notification: notification, indication: indication)
        #expect(rule.least == least)
        #expect(!rule.isOpen)
    }

    @Test func unavailableChoicesRequireNoSecurity() {
        let notified = SubscriptionRule(choices: .notify, notification: .none, indication: .secureConnections)
        let indicated = SubscriptionRule(choices: .indicate, notification: .secureConnections, indication: .none)
        #expect(notified.isOpen)
        #expect(indicated.isOpen)
        #expect(notified.least == .none)
        #expect(indicated.least == .none)
    }

    @Test func aChoiceAsksForTheMostOfItsWays() {
        let rule = SubscriptionRule(choices: Self.both, notification: .authenticated, indication: .encrypted)
        #expect(rule.requirement(of: []) == .none)
        #expect(rule.requirement(of: .notify) == .authenticated)
        #expect(rule.requirement(of: .indicate) == .encrypted)
        #expect(rule.requirement(of: Self.both) == .authenticated)
    }

    @Test func aLinkServesTheWaysThatItIsSecureEnoughFor() {
        let rule = SubscriptionRule(choices: Self.both, notification: .authenticated, indication: .encrypted)
        let clear = LinkSecurity(isEncrypted: false)
        let encrypted = LinkSecurity(isEncrypted: true)
        let authenticated = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(rule.served(Self.both, over: clear) == [])
        #expect(rule.served(Self.both, over: encrypted) == .indicate)
        #expect(rule.served(.notify, over: encrypted) == [])
        #expect(rule.served(Self.both, over: authenticated) == Self.both)
        // A procedure that was not chosen is not served.
        #expect(rule.served(.indicate, over: authenticated) == .indicate)
        #expect(rule.served([], over: authenticated) == [])
    }
}
