import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

/// A server that may be the bonded one, or any device with its address (AB-A10: as BLESA did with values in the clear).
@Suite struct BondedServerTests {
    let fixture: ServerFixture
    let peer: ConnectedClient
    let owner: RecordingLinkOwner
    let measurement = ServerFixture.measurement
    var client: GATTClient { peer.client }
    var app: RecordingApp { fixture.app }

    private static let clear = LinkSecurity(isEncrypted: false)
    private static let encrypted = LinkSecurity(isEncrypted: true)

    init() throws {
        fixture = try ServerFixture()
        peer = fixture.client(mtu: 23)
        owner = RecordingLinkOwner(peer)
        app.values[28] = [7]
        client.security = Self.clear
        _ = peer.link.takeSent()
    }

    private func run() { fixture.loop.run(for: .seconds(1)) }

    /// Sends unsolicited octets from the server.
    private func inject(_ octets: [UInt8]) {
        peer.serverLink.inject(octets, on: 4)
        run()
    }

    @Test("AB-A10, AB-A09: values before encryption are dropped, and indications confirmed")
    func valuesBeforeEncryptionAreDroppedAndIndicationsConfirmed() {
        let octets: [[UInt8]] = [
            [0x1B, 23, 0, 1], [0x1D, 23, 0, 1], [0x23, 23, 0, 1, 0, 7, 24, 0, 1, 0, 8], [0x1D, 0xFF, 0xFF, 1],
        ]
        for pdu in octets { inject(pdu) }
        #expect(peer.values.isEmpty)
        #expect(peer.link.takeSent(on: 4) == [[0x1E], [0x1E]])
        client.security = Self.encrypted
        for pdu in octets { inject(pdu) }
        #expect(
            peer.values == [
                "23 notification 01", "23 indication 01", "23 notification 07", "24 notification 08",
                "65535 indication 01",
            ]
        )
        #expect(peer.link.takeSent(on: 4) == [[0x1E], [0x1E]])
    }

    /// The bearer does not matter: the security is that of the link.
    @Test("AB-A10, AB-A09: values over another bearer before encryption are dropped")
    func valuesOverAnotherBearerBeforeEncryptionAreDropped() {
        peer.addBearer(on: 0x40, mtu: 64)
        let octets: [[UInt8]] = [[0x1B, 23, 0, 1], [0x1D, 23, 0, 2], [0x23, 23, 0, 1, 0, 7, 24, 0, 1, 0, 8]]
        func inject() {
            for pdu in octets { peer.serverLink.inject(pdu, on: 0x40) }
            run()
        }
        inject()
        #expect(peer.values.isEmpty)
        #expect(peer.link.takeSent(on: 0x40) == [[0x1E]])
        // A PDU that begins in the clear.
        peer.link.onReceive?([4, 0, 0x40, 0, 0x1B, 23, 0], true)
        client.security = Self.encrypted
        peer.link.onReceive?([9], false)
        #expect(peer.values.isEmpty)
        inject()
        #expect(
            peer.values
                == ["23 notification 01", "23 indication 02", "23 notification 07", "24 notification 08"]
        )
        #expect(peer.link.takeSent(on: 0x40) == [[0x1E]])
    }

    /// A change that was confirmed and dropped would never be sent again, and accepting a false one only costs a
    /// discovery.
    @Test func changesOfTheDatabaseAreAlwaysBelieved() {
        var ranges: [ClosedRange<UInt16>] = []
        client.onServiceChanged = { ranges.append($0) }
        client.serviceChanged = 8
        inject([0x1D, 8, 0, 20, 0, 30, 0])
        #expect(ranges == [20...30])
        #expect(peer.link.takeSent(on: 4) == [[0x1E]])
    }

    @Test("AB-A10: nothing is requested from a bonded server before encryption")
    func bondedServersAreQueriedAfterEncryption() throws {
        var ends: [String] = []
        client.read(28) { ends.append((try? $0.get()) == [7] ? "read" : "failed") }
        client.discoverServices { _ in ends.append("discovered") }
        client.write([9], to: 28) { _ in ends.append("written") }
        run()
        #expect(ends.isEmpty)
        #expect(peer.link.takeSent(on: 4).isEmpty)
        #expect(owner.causes == [.insufficientEncryption])
        owner.secure(Self.encrypted)
        run()
        #expect(ends == ["read", "discovered", "written"])
        #expect(owner.causes.count == 1)
    }

    /// Behaviour 6.12 is up to the owner: here every procedure fails, and nothing is sent in the clear.
    @Test("AB-A10: failed encryption fails the request that waited for it")
    func encryptionThatFailsIsAnError() {
        var errors: [GATTError] = []
        for _ in 0..<2 { client.read(28) { if case .failure(let error) = $0 { errors.append(error) } } }
        run()
        owner.answer(false, times: 2)
        run()
        #expect(errors == Array(repeating: .insufficientSecurity(.insufficientEncryption), count: 2))
        #expect(peer.link.takeSent(on: 4).isEmpty)
        #expect(app.reads.isEmpty)
        // An owner that agrees without encryption does not get past it either.
        client.read(28) { if case .failure(let error) = $0 { errors.append(error) } }
        run()
        owner.answer(true)
        run()
        #expect(errors.count == 3)
        #expect(peer.link.takeSent(on: 4).isEmpty)
        #expect(owner.causes.count == 2)
    }

    @Test("AB-A10: without an owner that encrypts, a request to a bonded server fails")
    func withoutAnOwnerItFails() {
        client.onInsufficientSecurity = nil
        #expect(throws: GATTError.insufficientSecurity(.insufficientEncryption)) {
            _ = try peer.wait { client.read(28, completion: $0) }
        }
        #expect(peer.link.takeSent(on: 4).isEmpty)
    }

    @Test("AB-A10: writes without response wait for encryption too")
    func writesWithoutResponseWaitToo() {
        var rooms = 0
        client.bearer.onCommandRoom = { rooms += 1 }
        for _ in 0..<3 { #expect(!client.write([1], withoutResponseTo: 28)) }
        #expect(owner.causes == [.insufficientEncryption])
        #expect(rooms == 0)
        owner.secure(Self.encrypted)
        #expect(rooms == 1)
        #expect(client.write([1], withoutResponseTo: 28))
        run()
        #expect(app.values[28] == [1])
    }

    /// The address was resolved while a request was pending.
    @Test("AB-A10: a response that arrived before encryption is requested again")
    func anAnswerThatCameTooEarlyIsAskedForAgain() throws {
        client.security = LinkSecurity()
        app.isSlow = true
        var values: [PacketBuffer] = []
        client.read(28) { if case .success(let value) = $0 { values.append(value) } }
        run()
        client.security = Self.clear
        app.reads[0].respond(.success([0xEE]))
        run()
        #expect(values.isEmpty)
        #expect(owner.causes == [.insufficientEncryption])
        owner.secure(Self.encrypted)
        run()
        try #require(app.reads.count == 2)
        app.reads[1].respond(.success([7]))
        run()
        #expect(values == [[7]])
    }

    @Test func aLinkThatIsLostEndsWhatWaits() {
        var errors: [GATTError] = []
        for _ in 0..<2 { client.read(28) { if case .failure(let error) = $0 { errors.append(error) } } }
        run()
        peer.disconnect()
        #expect(errors == Array(repeating: .bearer(.closed(.linkLost)), count: 2))
        owner.answer(false)
        #expect(errors.count == 2)
        #expect(!client.write([1], withoutResponseTo: 28))
    }

    /// The level that an owner requires: each link below it, and the first one that meets it.
    @Test(arguments: zip([SecurityLevel.encrypted, .authenticated, .secureConnections], [3, 2, 1]))
    func theOwnerMayAskForMore(_ requirement: SecurityLevel, good: Int) {
        client.requirement = requirement
        let links = [
            LinkSecurity(), Self.clear, Self.encrypted, LinkSecurity(isEncrypted: true, isAuthenticated: true),
            LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true),
        ]
        for link in links {
            client.security = link
            inject([0x1B, 23, 0, 1])
        }
        #expect(peer.values.count == good)
        client.security = LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true, keySize: 7)
        inject([0x1B, 23, 0, 1])
        #expect(peer.values.count == good)
    }
}
