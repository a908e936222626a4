import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import Testing

/// A client that may be the bonded one, or any device with its address.
@Suite struct BondedClientTests {
    let fixture: ServerFixture
    /// A value open to everyone, and one that requires encryption.
    let open = ServerFixture.measurement
    let bound: UInt16
    var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        bound = try fixture.publish(.report(.notify, notifiedAt: .encrypted))
    }

    /// A bonded client that has reconnected and is not encrypted yet.
    private func comeBack(_ record: ClientRecord) -> BareClient {
        let client = fixture.bareClient()
        client.session.security = LinkSecurity(isEncrypted: false)
        client.session.restore(record)
        return client
    }

    private func encrypt(_ client: BareClient) {
        client.session.security = LinkSecurity(isEncrypted: true)
    }

    @Test("behaviour 6.15: a restored subscription that needs encryption is served once the link is encrypted")
    func aRestoredChoiceIsServedWhenTheLinkIsEncrypted() {
        let client = comeBack(ClientRecord(configurations: [open: .notify, bound: .notify]))
        // The app is notified of the subscription in effect, and the client reads back its own configuration.
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

    /// Each change of security is evaluated, and the app is notified of a subscription at the first sufficient level.
    @Test func theAppHearsOfAChoiceWhenItsLevelIsReached() throws {
        let value = try fixture.publish(.report(.notify, notifiedAt: .authenticated))
        let client = comeBack(ClientRecord(configurations: [bound: .notify, value: .notify]))
        encrypt(client)
        #expect(app.configurations == ["\(bound): 0-1"] && !client.session.wants(value))
        client.session.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(app.configurations == ["\(bound): 0-1", "\(value): 0-1"] && client.session.wants(value))
        client.session.security = LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true)
        #expect(app.configurations.count == 2)
    }

    /// A client that repeats its current configuration changes nothing, in the clear or encrypted.
    @Test("AB-A11: a client that repeats its configuration changes no record", arguments: [false, true])
    func repeatedConfigurationsChangeNothing(isEncrypted: Bool) {
        let client = fixture.bareClient()
        if isEncrypted { encrypt(client) }
        fixture.loop.run(for: .seconds(2))
        let count = app.records.count
        #expect(count == (isEncrypted ? 1 : 0))
        for _ in 0..<3 { #expect(client.exchange([0x12, UInt8(open + 1), 0, 0, 0]) == [0x13]) }
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.count == count)
    }

    /// The bond is found when the link is encrypted: choices made earlier on this link take precedence for as long as
    /// the link lasts.
    @Test func aRecordMayComeLate() {
        let client = fixture.bareClient()
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 2, 0]) == [0x13])
        encrypt(client)
        client.session.restore(ClientRecord(configurations: [open: .notify, bound: .notify], features: .robustCaching))
        #expect(client.session.configurations == [open: .indicate, bound: .notify])
        #expect(client.session.features == .robustCaching)
        #expect(app.configurations == ["\(open): 0-2", "\(bound): 0-1"])
        #expect(client.session.record.configurations == [open: .notify, bound: .notify])
    }

    /// The server's side of AB-A10: a device with the address of a bonded client cannot change its record.
    @Test("AB-A10: an impostor changes nothing in a client's record")
    func anImpostorChangesNothingOfTheRecord() throws {
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
        // It confirms a change of which the real client has not been notified.
        _ = try fixture.database.add(ServiceDefinition(0x1805))
        #expect(impostor.sent().first?.first == 0x1D)
        impostor.exchange([0x1E])
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.count == 1)
        impostor.connection.close()
        let kept = impostor.session.record
        #expect(kept.configurations == record.configurations)
        #expect(kept.features.isEmpty)
        #expect(!kept.isChangeAware)
        #expect(kept.missedChanges.count == 1)
        #expect(kept.databaseHash == fixture.database.hash)
    }

    /// A device with the address of a bonded client that has not subscribed yet.
    @Test("AB-A10: an impostor leaves no record for a client")
    func anImpostorLeavesNoRecord() {
        let client = fixture.bareClient()
        client.session.security = LinkSecurity(isEncrypted: false)
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 1, 0]) == [0x13])
        #expect(client.session.record.configurations.isEmpty)
        client.connection.close()
        #expect(client.session.record.configurations.isEmpty)
    }

    /// An injector writes on the clear link of a bonded client, which then encrypts: the bond does not store the write,
    /// while the link goes on with it (Core Vol 3 Part G 3.3.3.3 and 7.2).
    @Test("AB-L08: a choice that a client makes in the clear is not stored")
    func unencryptedChoicesAreNotStored() {
        let record = ClientRecord(
            configurations: [open: .notify],
            features: .robustCaching,
            databaseHash: fixture.database.hash
        )
        let client = comeBack(record)
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 2, 0]) == [0x13])
        #expect(client.exchange([0x12, 9, 0, 2, 0]) == [0x13])
        #expect(client.exchange([0x12, 11, 0, 7]) == [0x13])
        encrypt(client)
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.isEmpty)
        #expect(client.session.record == record)
        #expect(client.session.configurations == [open: .indicate, 8: .indicate])
        #expect(client.session.features.rawValue == 7)
        #expect(fixture.server.update([1], of: open))
        #expect(client.sent() == [[0x1D, UInt8(open), 0, 1]])
        client.exchange([0x1E])
        // Further choices do not store this one with them.
        client.exchange([0x12, UInt8(bound + 1), 0, 1, 0])
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.map(\.configurations) == [[open: .notify, bound: .notify]])
        #expect(app.records.last?.features == .robustCaching)
        // The same choice over the encrypted link counts as the client's own.
        client.exchange([0x12, UInt8(open + 1), 0, 2, 0])
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.count == 2 && app.records[1].configurations == [open: .indicate, bound: .notify])
        client.exchange([0x12, 9, 0, 2, 0])
        client.exchange([0x12, 11, 0, 7])
        client.connection.close()
        #expect(app.records.last == client.session.record)
        #expect(app.records.count == 3)
        #expect(client.session.record.configurations == [open: .indicate, bound: .notify, 8: .indicate])
        #expect(client.session.record.features.rawValue == 7)
    }

    /// A single octet in the clear is enough, and so is one part of a queue.
    @Test("AB-L08: a choice that a client makes partly in the clear is not stored")
    func partlyUnencryptedChoicesAreNotStored() {
        let write: [UInt8] = [5, 0, 4, 0, 0x12, UInt8(open + 1), 0, 2, 0]
        for cut in 1..<write.count {
            let client = comeBack(ClientRecord(configurations: [open: .notify]))
            #expect(client.sent().isEmpty)
            client.link.onReceive?(PacketBuffer(Array(write[..<cut])), true)
            fixture.loop.run(for: .zero)
            encrypt(client)
            client.link.onReceive?(PacketBuffer(Array(write[cut...])), false)
            #expect(client.sent() == [[0x13]])
            #expect(client.session.configurations == [open: .indicate])
            #expect(client.session.record.configurations == [open: .notify], "cut at \(cut)")
            client.connection.close()
        }
        let client = comeBack(ClientRecord(configurations: [open: .notify]))
        #expect(client.exchange([0x16, UInt8(open + 1), 0, 0, 0, 2]).first == 0x17)
        encrypt(client)
        #expect(client.exchange([0x16, UInt8(open + 1), 0, 1, 0, 0]).first == 0x17)
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(client.session.configurations == [open: .indicate])
        #expect(client.session.record.configurations == [open: .notify])
    }

    /// An injector confirms a change on the clear link, or reads the hash; the client, which then encrypts, is told
    /// again.
    @Test("AB-L08, AB-A11: a change that was confirmed in the clear is indicated again", arguments: [true, false])
    func aChangeConfirmedInTheClearIsToldAgain(isConfirmed: Bool) throws {
        let missed = [handles(1), handles(5)]
        let record = ClientRecord(
            configurations: [8: .indicate, open: .notify],
            features: .robustCaching,
            databaseHash: fixture.database.hash,
            isChangeAware: false,
            missedChanges: missed
        )
        let client = comeBack(record)
        for (index, range) in missed.enumerated() {
            #expect(client.sent() == [told(range)])
            // An indication not confirmed in the clear is still in flight, and repeated after that.
            if isConfirmed || index == 0 { client.link.onReceive?([1, 0, 4, 0, 0x1E], true) }
        }
        encrypt(client)
        if isConfirmed {
            #expect(client.sent() == [told(missed[0])])
            #expect(client.exchange([0x1E]) == told(missed[1]))
        } else {
            #expect(client.exchange([0x1E]) == told(missed[0]))
            #expect(client.exchange([0x1E]) == told(missed[1]))
        }
        #expect(!client.session.record.isChangeAware && client.session.record.missedChanges == [missed[1]])
        #expect(!client.session.wants(open), "it may hold old handles")
        #expect(client.exchange([0x1E]).isEmpty)
        #expect(client.session.record.isChangeAware)
        #expect(client.session.record.missedChanges.isEmpty)
        #expect(client.session.wants(open))
        // Once suffices: it is not told again when the link's security changes further.
        client.session.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(client.sent().isEmpty)
        #expect(client.session.record.isChangeAware)
    }

    private func handles(_ first: UInt16) -> ClosedRange<UInt16> { (first + 0x100)...(first + 0x101) }

    private func told(_ range: ClosedRange<UInt16>) -> [UInt8] {
        [0x1D, 8, 0, UInt8(range.lowerBound & 0xFF), 1, UInt8(range.upperBound & 0xFF), 1]
    }

    /// A bond made on this link takes over earlier choices: there was no bonded client to impersonate.
    @Test func aNewBondTakesWhatWasChosenBefore() {
        let client = fixture.bareClient()
        #expect(client.exchange([0x12, UInt8(open + 1), 0, 1, 0]) == [0x13])
        #expect(client.exchange([0x12, 11, 0, 1]) == [0x13])
        encrypt(client)
        #expect(client.session.record.configurations == [open: .notify])
        #expect(client.session.record.features == .robustCaching)
    }

    /// A link that loses its security ends, and choices made while it was secure stay stored: neither an empty record
    /// nor data in the clear replaces them.
    @Test("AB-A10: a client's record outlasts the security of its link", arguments: [true, false])
    func clientRecordsOutlastLinkSecurity(isNew: Bool) {
        let client = isNew ? fixture.bareClient() : comeBack(ClientRecord(configurations: [open: .notify]))
        encrypt(client)
        client.exchange([0x12, UInt8(bound + 1), 0, 1, 0])
        client.exchange([0x12, UInt8(open + 1), 0, 2, 0])
        fixture.loop.run(for: .seconds(2))
        let record = client.session.record
        #expect(record.configurations == [open: .indicate, bound: .notify])
        client.session.security = LinkSecurity(isEncrypted: false)
        client.exchange([0x12, UInt8(open + 1), 0, 0, 0])
        fixture.loop.run(for: .seconds(2))
        client.connection.close()
        #expect(client.session.record == record)
        #expect(app.records == [record])
    }

    /// AB-A11: an unchanged record is not saved again.
    @Test("AB-A11: a client's record is reported only when it has changed")
    func aRecordIsToldOnlyWhenItIsAnotherOne() {
        let client = comeBack(ClientRecord(configurations: [open: .notify], databaseHash: fixture.database.hash))
        encrypt(client)
        fixture.loop.run(for: .seconds(2))
        for choice: UInt8 in [2, 1] { client.exchange([0x12, UInt8(open + 1), 0, choice, 0]) }
        fixture.loop.run(for: .seconds(2))
        #expect(app.records.isEmpty)
    }

    /// AB-A02: encryption may be lost between prepare and execute, for a client that was bonded and one that was not.
    @Test("AB-A02: a refused execution has the cause that applies at that time")
    func theCauseIsThatOfTheExecution() {
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
            // Nothing is left in the queue.
            client.session.security = good
            #expect(client.exchange([0x18, 1]) == [0x19])
        }
        #expect(app.writes.isEmpty)
    }
}
