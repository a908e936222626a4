import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import Testing

/// A server with Database Hash and clients that have announced robust caching, in the order of the test suite's steps.
@Suite struct ServerCachingTests {
    static let features: UInt8 = 11
    static let readHash: [UInt8] = [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]
    /// A value unaffected by any change.
    static let read: [UInt8] = [0x0A, 16, 0]
    static let value: [UInt8] = [0x0B, 0x64]
    static let outOfSync: [UInt8] = [0x01, 0x0A, 16, 0, 0x12]

    let fixture: ServerFixture
    let client: BareClient

    init() throws {
        fixture = try ServerFixture(hasHash: true)
        client = fixture.bareClient()
    }

    private func change() throws {
        _ = try fixture.database.add(ServiceDefinition(0x1805))
    }

    private func announce(_ bits: UInt8) {
        #expect(client.exchange([0x12, Self.features, 0, bits]) == [0x13])
    }

    @Test("GATT/SR/GAS/BV-02: the database hash follows the database")
    func theHashFollowsTheDatabase() throws {
        var hashes: [[UInt8]] = []
        for _ in 0..<3 {
            let answer = client.exchange(Self.readHash)
            #expect(answer.prefix(4) == [0x09, 18, 13, 0])
            #expect(answer.dropFirst(4) == fixture.database.hash.octets[...])
            #expect(client.exchange([0x0A, 13, 0]) == [0x0B] + answer.dropFirst(4))
            hashes.append(answer)
            try change()
        }
        #expect(Set(hashes).count == 3)
        #expect(client.exchange([0x12, 13, 0, 1]) == client.error(0x12, 13, .writeNotPermitted))
    }

    @Test("GATT/SR/GAS/BV-03: client features are kept per client")
    func oneValueForEachClient() {
        let other = fixture.bareClient()
        announce(0xF9)
        #expect(client.exchange([0x0A, Self.features, 0]) == [0x0B, 1])
        #expect(other.exchange([0x0A, Self.features, 0]) == [0x0B, 0])
    }

    @Test("GATT/SR/GAS/BV-04: the features of a bonded client are kept")
    func featuresOfABondedClientAreKept() {
        announce(1)
        client.connection.close()
        let again = fixture.bareClient(record: client.session.record)
        #expect(again.exchange([0x0A, Self.features, 0]) == [0x0B, 1])
        let stranger = fixture.bareClient()
        #expect(stranger.exchange([0x0A, Self.features, 0]) == [0x0B, 0])
    }

    @Test(
        "GATT/SR/GAS/BV-05, AB-A11: the first request of a client that missed a change is refused and its commands are ignored"
    )
    func requestsOfAClientThatMissedAChange() throws {
        let app = fixture.app
        app.values[30] = [7]
        try change()
        #expect(client.exchange(Self.read) == Self.value)
        announce(1)
        // The announcing request still counts as one without robust caching; the following ones do not.
        #expect(client.exchange(Self.readHash).first == 0x09)
        try change()
        #expect(client.exchange(Self.read) == Self.outOfSync)
        #expect(client.exchange(Self.read) == Self.value)
        try change()
        #expect(client.exchange(Self.read) == Self.outOfSync)
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(app.values[30] == [7])
        #expect(client.exchange([0x12, Self.features, 0, 0]) == client.error(0x12, 11, .valueNotAllowed))
        #expect(client.exchange([0x0A, Self.features, 0]) == [0x0B, 1])
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(app.values[30] == [8])
        try change()
        #expect(client.exchange([0x0A, 13, 0]) == client.error(0x0A, 13, .databaseOutOfSync))
        try change()
        #expect(client.exchange([0x08, 1, 0, 0xFE, 0xFF, 0x19, 0x2A]) == [0x01, 0x08, 1, 0, 0x12])
    }

    @Test(
        "AB-A11: every request that names handles is refused once after a change",
        arguments: [
            [0x0A, 16, 0], [0x0C, 16, 0, 0, 0], [0x0E, 16, 0, 16, 0], [0x20, 16, 0, 16, 0], [0x12, 30, 0, 1],
            [0x16, 30, 0, 0, 0, 1], [0x08, 2, 0, 0xFF, 0xFF, 0x2A, 0x2B],
        ] as [[UInt8]]
    )
    func everyRequestThatNamesHandlesIsRefusedOnce(request: [UInt8]) throws {
        announce(1)
        try change()
        #expect(client.exchange(request) == [0x01, request[0], request[1], 0, 0x12])
        #expect(fixture.app.reads.isEmpty)
        #expect(client.exchange(request).first == request[0] + 1)
    }

    @Test(
        "AB-A11: discovery is never refused to a client that missed a change",
        arguments: [
            [0x04, 1, 0, 0xFF, 0xFF], [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0, 0x18], [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28],
            [0x08, 1, 0, 5, 0, 3, 0x28], [0x08, 21, 0, 35, 0, 2, 0x28], [0x08, 1, 0, 0xFF, 0xFF, 0x19, 0x2A],
            [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B], [0x18, 1], [0x02, 23, 0],
        ] as [[UInt8]]
    )
    func discoveryIsNeverRefused(request: [UInt8]) throws {
        announce(1)
        try change()
        #expect(client.exchange(request).first == request[0] + 1)
        // It has not made the client aware, except that reading the hash does so for the next request.
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(fixture.app.writes.isEmpty)
        let hasReadHash = request == Self.readHash
        #expect(client.exchange(Self.read) == (hasReadHash ? Self.value : Self.outOfSync))
    }

    @Test("AB-A11: values are held back from a client that missed a change")
    func valuesAreHeldBackFromAClientThatMissedAChange() throws {
        #expect(client.exchange([0x12, 26, 0, 1, 0]) == [0x13])
        announce(1)
        let other = fixture.bareClient()
        #expect(other.exchange([0x12, 26, 0, 1, 0]) == [0x13])
        try change()
        #expect(fixture.server.update([1], of: 25))
        #expect(client.sent().isEmpty)
        // A client without robust caching still receives values.
        #expect(other.sent() == [[0x1B, 25, 0, 1]])
        client.exchange(Self.read)
        #expect(client.exchange(Self.read) == Self.value)
        #expect(fixture.server.update([2], of: 25))
        #expect(client.sent() == [[0x1B, 25, 0, 2]])
    }

    @Test("GATT/SR/GAS/BV-06: a client becomes aware of a change by the hash or by confirming it")
    func awarenessWithinAConnection() throws {
        announce(1)
        try change()
        #expect(client.exchange(Self.readHash).first == 0x09)
        #expect(client.exchange(Self.read) == Self.value)
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        try change()
        #expect(client.sent().map(\.first) == [0x1D])
        client.exchange([0x1E])
        #expect(client.exchange(Self.read) == Self.value)
        try change()
        #expect(client.sent().map(\.first) == [0x1D])
        #expect(client.exchange(Self.read) == Self.outOfSync)
    }

    @Test("GATT/SR/GAS/BV-07: a change between connections leaves a bonded client unaware until it learns of it")
    func awarenessBetweenConnections() throws {
        let store = Store()
        fixture.server.keepRecords(in: store)
        announce(1)
        var client = client
        func reconnect(changing: Bool = true) throws {
            client.connection.close()
            store.records = [client.session.record]
            if changing { try change() }
            client = fixture.bareClient(record: store.records[0])
        }
        try reconnect()
        #expect(client.exchange(Self.readHash).first == 0x09)
        #expect(client.exchange(Self.read) == Self.value)
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        try reconnect()
        // Exactly the change: the service that was added last.
        #expect(client.sent() == [[0x1D, 8, 0, 37, 0, 37, 0]])
        client.exchange([0x1E])
        #expect(client.exchange(Self.read) == Self.value)
        try reconnect(changing: false)
        #expect(client.sent().isEmpty)
        #expect(client.exchange([0x12, Self.features, 0, 0]) == client.error(0x12, 11, .valueNotAllowed))
        #expect(client.exchange([0x12, 9, 0, 0, 0]) == [0x13])
        try reconnect()
        #expect(client.exchange(Self.read) == Self.outOfSync)
        // After another connection it is refused again, although nothing has changed.
        try reconnect(changing: false)
        #expect(client.exchange(Self.read) == Self.outOfSync)
        #expect(client.exchange(Self.read) == Self.value)
        try reconnect(changing: false)
        #expect(client.exchange(Self.read) == Self.value)
    }

    /// Every connected client becomes unaware by a change, and the announcement reads nothing (Core Vol 3 Part G
    /// 2.5.2.1). The first request that names a handle is refused, whether the database changed before or after the
    /// client announced its features. Here that request is the first subscription.
    @Test(
        "AB-A11: a change between the announcement and the first subscription refuses that subscription",
        arguments: [false, true]
    )
    func aChangeBeforeTheFirstSubscriptionRefusesIt(isAnnouncedFirst: Bool) throws {
        let subscribe: [UInt8] = [0x12, 9, 0, 2, 0]
        if isAnnouncedFirst { announce(1) }
        try change()
        if !isAnnouncedFirst { announce(1) }
        // Discovery continues in the meantime, and makes the client no more aware.
        #expect(client.exchange([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]).first == 0x11)
        #expect(client.exchange(subscribe) == client.error(0x12, 9, .databaseOutOfSync))
        #expect(client.session.configurations.isEmpty)
        #expect(!client.session.record.isChangeAware)
        #expect(client.exchange(subscribe) == [0x13])
        #expect(client.session.configurations == [8: .indicate])
        #expect(client.session.record.isChangeAware)
    }

    @Test("GATT/SR/GAS/BV-08: a read of several values on one bearer is refused once after a change")
    func readMultipleVariableOnOneBearer() throws {
        let several: [UInt8] = [0x20, 16, 0, 16, 0]
        let values: [UInt8] = [0x21, 1, 0, 0x64, 1, 0, 0x64]
        try change()
        #expect(client.exchange(several) == values)
        announce(1)
        #expect(client.exchange(Self.readHash).first == 0x09)
        #expect(client.exchange(several) == values)
        try change()
        #expect(client.exchange(several) == [0x01, 0x20, 16, 0, 0x12])
        #expect(client.exchange(several) == values)
    }

    @Test("GATT/SR/GAS/BV-08, AB-A11: a read of several values is refused once on each bearer after a change")
    func readMultipleVariableOnSeveralBearers() throws {
        let several: [UInt8] = [0x20, 16, 0, 16, 0]
        client.addBearer(on: 0x40)
        announce(1)
        try change()
        let refusal: [UInt8] = [0x01, 0x20, 16, 0, 0x12]
        #expect(client.exchange(several) == refusal)
        #expect(client.exchange(several, on: 0x40) == refusal)
        // Only reading the hash helps now, and the error comes once on each bearer.
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(client.exchange(Self.readHash, on: 0x40).first == 0x09)
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(fixture.app.writes.isEmpty)
        #expect(client.exchange(several).first == 0x21)
        #expect(client.exchange([0x52, 30, 0, 8]).isEmpty)
        #expect(fixture.app.writes.count == 1)
    }

    @Test("AB-A11: a change between the hash and the next request keeps the client unaware")
    func aChangeBetweenTheHashAndTheNextRequest() throws {
        client.addBearer(on: 0x40)
        announce(1)
        try change()
        #expect(client.exchange(Self.readHash).first == 0x09)
        try change()
        #expect(client.exchange(Self.read, on: 0x40) == Self.outOfSync)
        #expect(client.exchange(Self.readHash, on: 0x40).first == 0x09)
        #expect(client.exchange(Self.read) == Self.value)
    }

    @Test("AB-A11: a client that ignores Service Changed gets the changes as one range, and then loses its session")
    func aClientThatIgnoresServiceChanged() throws {
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        announce(1)
        for _ in 0..<100 { try change() }
        // One indication is in flight; the other changes are merged into one range.
        #expect(client.sent() == [[0x1D, 8, 0, 36, 0, 36, 0]])
        #expect(client.exchange([0x1E]) == [0x1D, 8, 0, 37, 0, 135, 0])
        // Between the two the client is unaware.
        #expect(client.exchange(Self.read) == Self.outOfSync)
        fixture.loop.run(for: .seconds(31))
        #expect(fixture.server.sessions.isEmpty)
    }

    @Test func servicesThatAreApartAreIndicatedApart() throws {
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        try change()
        try fixture.database.remove(21)
        try fixture.database.remove(14)
        #expect(client.sent() == [[0x1D, 8, 0, 36, 0, 36, 0]])
        #expect(client.exchange([0x1E]) == [0x1D, 8, 0, 14, 0, 16, 0])
        #expect(client.exchange([0x1E]) == [0x1D, 8, 0, 21, 0, 35, 0])
        #expect(client.exchange([0x1E]).isEmpty)
        // The remaining services keep their handles.
        #expect(client.exchange([0x0A, 17, 0]).first == 0x0B)
        #expect(client.exchange([0x08, 17, 0, 20, 0, 0x01, 0x29]).prefix(4) == [0x09, 21, 20, 0])
    }
}

/// The records of clients that are not connected.
final class Store: GATTClientStore {
    var records: [ClientRecord] = []

    func updateRecords(_ change: (inout ClientRecord) -> Void) {
        for index in records.indices { change(&records[index]) }
    }
}

@Suite struct ClientRecordTests {
    let fixture: ServerFixture
    let client: BareClient

    init() throws {
        fixture = try ServerFixture(hasHash: true)
        client = fixture.bareClient()
    }

    @Test("GATT/SR/GAN/BV-01, GATT/SR/GAI/BV-01: the choices of a client without a bond are discarded")
    func aStrangersChoicesAreForgotten() {
        for choice: UInt8 in [1, 2] {
            let before = fixture.bareClient()
            before.exchange([0x12, 26, 0, choice, 0])
            #expect(fixture.server.update([choice], of: 25))
            #expect(before.sent() == [[choice == 1 ? 0x1B : 0x1D, 25, 0, choice]])
            if choice == 2 { before.exchange([0x1E]) }
            before.connection.close()
            let after = fixture.bareClient()
            #expect(after.exchange([0x0A, 26, 0]) == [0x0B, 0, 0])
            #expect(fixture.server.update([9], of: 25))
            #expect(after.sent().isEmpty)
        }
    }

    @Test("GATT/SR/GAN/BV-03, GATT/SR/GAI/BV-02: the choices of a bonded client are kept")
    func aBondedClientsChoicesAreKept() {
        for choice: UInt8 in [1, 2] {
            let before = fixture.bareClient()
            before.exchange([0x12, 26, 0, choice, 0])
            before.connection.close()
            let after = fixture.bareClient(record: before.session.record)
            #expect(after.exchange([0x0A, 26, 0]) == [0x0B, choice, 0])
            #expect(fixture.server.update([9], of: 25))
            #expect(after.sent() == [[choice == 1 ? 0x1B : 0x1D, 25, 0, 9]])
            after.connection.close()
        }
        #expect(
            fixture.app.configurations == ["25: 0-1", "25: 1-0", "25: 0-1", "25: 1-0"]
                + ["25: 0-2", "25: 2-0", "25: 0-2", "25: 2-0"]
        )
    }

    @Test("AB-A11: a flood of writes to a configuration is reported at a bounded rate")
    func aStormOfWritesIsToldAtABoundedRate() {
        for round in 0..<1000 { client.exchange([0x12, 26, 0, UInt8(round & 1), 0]) }
        #expect(fixture.app.records.isEmpty)
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.map(\.configurations) == [[25: .notify]])
        client.exchange([0x12, 26, 0, 0, 0])
        client.exchange([0x12, 26, 0, 2, 0])
        // Unreported changes are reported when the link closes.
        client.connection.close()
        #expect(fixture.app.records.map(\.configurations) == [[25: .notify], [25: .indicate]])
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.count == 2)
    }

    @Test func theSameChoiceAgainIsNothingNew() {
        client.exchange([0x12, 26, 0, 1, 0])
        fixture.loop.run(for: .seconds(2))
        client.exchange([0x12, 26, 0, 1, 0])
        fixture.loop.run(for: .seconds(2))
        #expect(fixture.app.records.count == 1)
    }

    @Test func aRecordOfAnotherDatabaseKeepsOnlyTheWishToHearOfChanges() throws {
        client.exchange([0x12, 9, 0, 2, 0])
        client.exchange([0x12, 26, 0, 1, 0])
        client.connection.close()
        var record = client.session.record
        record.databaseHash = DatabaseHash([UInt8](repeating: 7, count: 16))
        let again = fixture.bareClient(record: record)
        #expect(again.session.configurations == [8: .indicate])
        #expect(again.sent() == [[0x1D, 8, 0, 1, 0, 0xFF, 0xFF]])
    }

    @Test func changesMissedAreKeptUntilTheyAreConfirmed() throws {
        let store = Store()
        fixture.server.keepRecords(in: store)
        client.exchange([0x12, 9, 0, 2, 0])
        client.connection.close()
        store.records = [client.session.record]
        try fixture.database.remove(21)
        #expect(store.records[0].missedChanges == [21...35])
        #expect(!store.records[0].isChangeAware)
        // It is told, and disconnects without a confirmation.
        let second = fixture.bareClient(record: store.records[0])
        #expect(second.sent() == [[0x1D, 8, 0, 21, 0, 35, 0]])
        second.connection.close()
        #expect(second.session.record.missedChanges == [21...35])
        let third = fixture.bareClient(record: second.session.record)
        #expect(third.sent() == [[0x1D, 8, 0, 21, 0, 35, 0]])
        third.exchange([0x1E])
        #expect(third.session.record.missedChanges.isEmpty)
        #expect(third.session.record.isChangeAware)
    }

    @Test func valuesThatAskForSecurityWaitForIt() throws {
        let published = try fixture.database.add(.keyboard)
        let value = published.characteristics[0].value
        let impostor = fixture.bareClient(record: ClientRecord(configurations: [value: .notify]))
        #expect(fixture.server.update([1], of: value))
        #expect(impostor.sent().isEmpty)
        impostor.session.security = LinkSecurity(isEncrypted: true)
        #expect(fixture.server.update([2], of: value))
        #expect(impostor.sent() == [[0x1B, UInt8(value), 0, 2]])
    }
}
