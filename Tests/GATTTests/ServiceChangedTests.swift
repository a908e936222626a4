import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

/// Service Changed: which clients are indicated, one at a time, as space allows, and what is stored about it.
@Suite struct ServiceChangedTests {
    let fixture: ServerFixture
    let client: BareClient
    var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        client = fixture.bareClient()
    }

    /// Writes the configuration of Service Changed.
    private func choose(_ choice: UInt8, of client: BareClient? = nil) {
        #expect((client ?? self.client).exchange([0x12, 9, 0, choice, 0]) == [0x13])
    }

    /// Publishes a service of one handle, not adjacent to those before it.
    private func change() throws -> UInt8 {
        let before = try fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound
        let handle = try fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound
        #expect(handle == before + 1)
        return UInt8(handle)
    }

    private func told(_ first: UInt8, _ last: UInt8? = nil) -> [UInt8] { [0x1D, 8, 0, first, 0, last ?? first, 0] }

    private func wait() { fixture.loop.run(for: .seconds(2)) }

    @Test func unsubscribedClientsGetNoEarlierChanges() throws {
        _ = try change()
        #expect(client.session.record.missedChanges.isEmpty)
        #expect(!client.session.record.isChangeAware)
        choose(2)
        #expect(client.sent().isEmpty)
        #expect(client.session.record.missedChanges.isEmpty)
        let handle = try fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound
        #expect(client.sent() == [told(UInt8(handle))])
    }

    @Test func unsubscribingDropsPendingChanges() throws {
        choose(2)
        let handle = try change()
        #expect(client.sent() == [told(handle - 1)])
        choose(0)
        #expect(client.exchange([0x1E]).isEmpty)
        wait()
        #expect(client.sent().isEmpty)
    }

    /// Service Changed is removed, and comes back at other handles.
    @Test func changesAreToldWhereServiceChangedIs() throws {
        choose(2)
        try fixture.database.remove(6)
        #expect(client.sent().isEmpty)
        #expect(client.session.configurations.isEmpty)
        _ = try change()
        #expect(client.session.record.missedChanges.isEmpty)
        let service = try fixture.database.add(.genericAttribute())
        let value = service.characteristics[0].value
        #expect(client.exchange([0x12, UInt8(value + 1), 0, 2, 0]) == [0x13])
        let handle = try UInt8(fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound)
        #expect(client.sent() == [[0x1D, UInt8(value), 0, handle, 0, handle, 0]])
    }

    /// The queue is full: the change waits for space, and is not lost.
    @Test func aChangeWaitsForRoom() throws {
        choose(2)
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        client.link.isHeld = true
        while fixture.server.update([1], of: 23) {}
        let handle = try change()
        let missed = [UInt16(handle) - 1...UInt16(handle)]
        #expect(client.session.record.missedChanges == missed)
        client.link.isHeld = false
        let sent = client.sent()
        #expect(sent.filter { $0[0] == 0x1B }.count == 20)
        #expect(sent.filter { $0[0] == 0x1D } == [told(handle - 1, handle)])
        #expect(client.session.record.missedChanges == missed)
        #expect(client.exchange([0x1E]).isEmpty)
        #expect(client.session.record.missedChanges.isEmpty)
        #expect(client.session.record.isChangeAware)
    }

    /// A client's record is reported after each change of it, and only then.
    @Test(arguments: [false, true])
    func theRecordIsToldWithAChangeAndItsConfirmation(isTold: Bool) throws {
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
        wait()
        #expect(app.records.isEmpty)
        if isTold { choose(2) }
        wait()
        let count = app.records.count
        #expect(count == (isTold ? 1 : 0))
        let handle = try fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound
        wait()
        #expect(app.records.count == count + 1)
        #expect(app.records.last?.isChangeAware == false)
        #expect(app.records.last?.missedChanges == (isTold ? [handle...handle] : []))
        #expect(app.records.last?.databaseHash == fixture.database.hash)
        guard isTold else { return }
        client.exchange([0x1E])
        wait()
        #expect(app.records.count == count + 2)
        #expect(app.records.last?.isChangeAware == true)
        #expect(app.records.last?.missedChanges == [])
        // Requests of a change-aware client change nothing.
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64])
        wait()
        #expect(app.records.count == count + 2)
    }

    @Test func clientFeaturesAreRecorded() {
        #expect(client.exchange([0x12, 11, 0, 5]) == [0x13])
        wait()
        #expect(app.records.map(\.features.rawValue) == [5])
    }

    /// The signature is valid, but the handle may be outdated (Core Vol 3 Part G 2.5.2.1).
    @Test("AB-A11, AB-A12: a signed write of a client that missed a change is ignored", arguments: [0, 1] as [UInt8])
    func aSignedWriteOfAClientThatMissedAChange(features: UInt8) throws {
        let definition = CharacteristicDefinition(
            0x2A4D,
            properties: [.write, .authenticatedSignedWrites],
            permissions: AttributePermissions(write: SecurityLevel.none, needsSignature: true)
        )
        let service = ServiceDefinition(0x1812, characteristics: [definition])
        let value = try UInt8(fixture.database.add(service).characteristics[0].value)
        let client = fixture.bareClient()
        client.session.verifySignature = { _, _ in true }
        #expect(client.exchange([0x12, 11, 0, features]) == [0x13])
        let signed = [0xD2, value, 0, 7] + [UInt8](repeating: 0, count: 12)
        #expect(client.exchange(signed).isEmpty && app.values[UInt16(value)] == [7])
        _ = try change()
        app.values = [:]
        #expect(client.exchange(signed).isEmpty)
        #expect(app.values[UInt16(value)] == (features == 1 ? nil : [7]))
    }

    /// A bonded client that has missed changes without subscribing to Service Changed: no changes are kept for it.
    @Test func encryptionRepeatsNoChangesToUnsubscribedClients() {
        client.session.security = LinkSecurity(isEncrypted: false)
        client.session.restore(
            ClientRecord(databaseHash: fixture.database.hash, isChangeAware: false, missedChanges: [2...3])
        )
        client.session.security = LinkSecurity(isEncrypted: true)
        #expect(client.sent().isEmpty)
        #expect(!client.session.record.isChangeAware)
        #expect(client.session.record.missedChanges.isEmpty)
    }

    /// A choice made on this link takes precedence over the record, whatever changed elsewhere.
    @Test func aChoiceOutlastsAChangeElsewhere() throws {
        #expect(client.exchange([0x12, 24, 0, 1, 0]) == [0x13])
        _ = try change()
        client.session.restore(ClientRecord(configurations: [23: .indicate], databaseHash: fixture.database.hash))
        #expect(client.session.configurations == [23: .notify])
    }

    /// A record loses its choices about the changed handles, and no others.
    @Test func aRecordForgetsChoicesAboutWhatHasChanged() throws {
        var record = ClientRecord(configurations: [7: .notify, 8: .indicate, 9: .notify, 10: .indicate])
        record.databaseChanged(8...9, hash: fixture.database.hash)
        #expect(record.configurations == [7: .notify, 10: .indicate])
        #expect(record.missedChanges == [8...9])
        #expect(!record.isChangeAware)
        #expect(record.databaseHash == fixture.database.hash)
    }
}
