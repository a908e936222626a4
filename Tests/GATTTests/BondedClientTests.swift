import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import Testing

/// A client that may be the bonded one, or anybody with its address.
@Suite struct BondedClientTests {
    let fixture: ServerFixture
    /// Tells everybody, and only whoever is encrypted.
    let open = ServerFixture.measurement
    let bound: UInt16
    var app: App { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        let definition = CharacteristicDefinition(
            0x2A4D,
            properties: .notify,
            permissions: AttributePermissions(),
            notification: .encrypted
        )
        bound = try fixture.database.add(ServiceDefinition(0x1812, characteristics: [definition]))
            .characteristics[0].value
    }

    /// A bonded client that has come back, not encrypted yet.
    private func comeBack(_ record: ClientRecord) -> BareClient {
        let client = fixture.bareClient()
        client.session.security = LinkSecurity(isEncrypted: false)
        client.session.restore(record)
        return client
    }

    private func encrypt(_ client: BareClient) {
        client.session.security = LinkSecurity(isEncrypted: true)
    }

    @Test func behaviour_6_15_aRestoredChoiceIsServedWhenTheLinkIsEncrypted() {
        let client = comeBack(ClientRecord(configurations: [open: .notify, bound: .notify]))
        // The app hears of what is served, and the client reads what it has chosen.
        #expect(app.configurations == ["\(open): 0-1"])
        #expect(client.exchange([0x0A, UInt8(bound + 1), 0]) == [0x0B, 1, 0])
        #expect(fixture.server.update([1], of: bound))
        #expect(client.sent().isEmpty)
        #expect(!client.session.wants(bound))
        encrypt(client)
        #expect(app.configurations == ["\(open): 0-1", "\(bound): 0-1"])
        #expect(fixture.server.update([2], of: bound))
        #expect(client.sent() == [[0x1B, UInt8(bound), 0, 2]])
        client.connection.close()
        #expect(app.configurations.suffix(2) == ["\(open): 1-0", "\(bound): 1-0"])
    }

    @Test func theAppHearsNothingOfAChoiceThatWasNeverServed() throws {
        let client = comeBack(ClientRecord(configurations: [bound: .notify]))
        client.connection.close()
        #expect(app.configurations.isEmpty)
        let again = comeBack(ClientRecord(configurations: [bound: .notify]))
        try fixture.database.remove(bound - 2)
        encrypt(again)
        #expect(app.configurations.isEmpty)
    }

    /// The bond is found when the link is encrypted: what the client has chosen since it came counts more.
    @Test func aRecordMayComeLate() {
        let client = fixture.bareClient()
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 2, 0]) == [0x13])
        encrypt(client)
        client.session.restore(ClientRecord(configurations: [open: .notify, bound: .notify], features: .robustCaching))
        #expect(client.session.configurations == [open: .indicate, bound: .notify])
        #expect(client.session.features == .robustCaching)
        #expect(app.configurations == ["\(open): 0-2", "\(bound): 0-1"])
        #expect(client.session.record.configurations == [open: .indicate, bound: .notify])
    }

    /// The server's side of AB-A10: somebody with the address of a bonded client changes nothing of what is remembered.
    @Test func AB_A10_anImpostorChangesNothingOfTheRecord() throws {
        let record = ClientRecord(
            configurations: [8: .indicate, open: .notify, bound: .notify],
            databaseHash: fixture.database.hash
        )
        let impostor = comeBack(record)
        #expect(impostor.exchange([0x12, UInt8(open + 1), 0, 0, 0]) == [0x13])
        #expect(
            impostor.exchange([0x12, UInt8(bound + 1), 0, 0, 0])
                == impostor.error(0x12, bound + 1, .insufficientEncryption)
        )
        #expect(impostor.exchange([0x12, 11, 0, 1]) == [0x13])
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.isEmpty)
        #expect(impostor.session.record == record)
        // It confirms a change that the real client has not heard of.
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        #expect(impostor.sent().first?.first == 0x1D)
        impostor.exchange([0x1E])
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.count == 1)
        impostor.connection.close()
        let kept = impostor.session.record
        #expect(kept.configurations == record.configurations)
        #expect(kept.features.isEmpty && !kept.isChangeAware && kept.missedChanges.count == 1)
        #expect(kept.databaseHash == fixture.database.hash)
    }

    /// Somebody with the address of a bonded client that has chosen nothing yet.
    @Test func AB_A10_anImpostorLeavesNoRecord() {
        let client = fixture.bareClient()
        client.session.security = LinkSecurity(isEncrypted: false)
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 1, 0]) == [0x13])
        #expect(client.session.record.configurations.isEmpty)
        client.connection.close()
        #expect(client.session.record.configurations.isEmpty)
    }

    @Test func whatAClientChoseBeforeItEncryptedIsKept() {
        let client = comeBack(ClientRecord(configurations: [open: .notify]))
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 2, 0]) == [0x13])
        encrypt(client)
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.map(\.configurations) == [[open: .indicate]])
        #expect(client.session.record.configurations == [open: .indicate])
    }

    /// AB-A11: a record that is what it was is not written again.
    @Test func AB_A11_aRecordIsToldOnlyWhenItIsAnotherOne() {
        let client = comeBack(ClientRecord(configurations: [open: .notify], databaseHash: fixture.database.hash))
        encrypt(client)
        fixture.loop.run(for: .seconds(2))
        for choice: UInt8 in [2, 1] { client.exchange([0x12, UInt8(open + 1), 0, choice, 0]) }
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.isEmpty)
    }

    /// AB-A02: encryption may be gone between prepare and execute, for a client that was bonded and one that was not.
    @Test func AB_A02_theCauseIsThatOfTheExecution() {
        let client = fixture.bareClient()
        let good = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        for (security, code) in [
            (LinkSecurity(), ATTErrorCode.insufficientAuthentication),
            (LinkSecurity(isEncrypted: false), .insufficientEncryption),
            (LinkSecurity(isEncrypted: true), .insufficientAuthentication),
            (LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 7), .encryptionKeySizeTooShort),
        ] {
            client.session.security = good
            #expect(client.exchange([0x16, 28, 0, 0, 0, 1]).first == 0x17)
            #expect(client.exchange([0x16, 31, 0, 0, 0, 1]).first == 0x17)
            client.session.security = security
            #expect(client.exchange([0x18, 1]) == client.error(0x18, 31, code))
            // Nothing is left of it.
            client.session.security = good
            #expect(client.exchange([0x18, 1]) == [0x19])
        }
        #expect(app.writes.isEmpty)
    }
}
