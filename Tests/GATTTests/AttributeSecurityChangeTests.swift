import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

/// A kind of access to value 31, which requires encryption to read and authentication to write.
struct ProtectedAccess: Sendable, CustomTestStringConvertible {
    var octets: [UInt8]
    var testDescription: String { PacketBuffer(octets).description }

    static let requests: [[UInt8]] = [
        [0x0A, 31, 0], [0x0C, 31, 0, 0, 0], [0x08, 31, 0, 31, 0, 0x3A, 0x2A], [0x0E, 14, 0, 31, 0],
        [0x20, 14, 0, 31, 0], [0x12, 31, 0, 9], [0x16, 31, 0, 0, 0, 9],
    ]
    static let all = (requests + [[0x52, 31, 0, 9]]).map(ProtectedAccess.init)
}

/// Data that arrived in the clear before the link was encrypted: they keep the rights with which they arrived.
@Suite struct AttributeSecurityChangeTests {
    let fixture: ServerFixture
    let client: BareClient
    var app: RecordingApp { fixture.app }

    private static let good = LinkSecurity(isEncrypted: true, isAuthenticated: true)

    init() throws {
        fixture = try ServerFixture()
        client = fixture.bareClient()
        fixture.loop.run(for: .zero)
        app.values = [28: [1], 31: [7]]
    }

    private func receive(_ octets: [UInt8], isStart: Bool) {
        client.link.onReceive?(PacketBuffer(octets), isStart)
        fixture.loop.run(for: .zero)
    }

    private func pdu(_ payload: [UInt8]) -> [UInt8] { [UInt8(payload.count), 0, 4, 0] + payload }

    /// Answers the app's pending requests, and returns what is sent then.
    private func answer() -> [[UInt8]] {
        let (reads, writes) = (app.reads, app.writes)
        (app.reads, app.writes) = ([], [])
        reads.forEach(app.answer)
        writes.forEach(app.answer)
        return client.sent()
    }

    /// An injector reads an open value, which the app supplies late, and the protected one; the real client encrypts;
    /// the app answers.
    @Test(
        "AB-L08, AB-A13: a request pending since the link was clear has the rights of the clear link",
        arguments: ProtectedAccess.all
    )
    func requestsFromTheClearLinkKeepItsRights(_ access: ProtectedAccess) {
        app.isSlow = true
        client.peer.inject([0x0A, 28, 0], on: 4)
        client.peer.inject(access.octets, on: 4)
        #expect(client.sent().isEmpty)
        #expect(app.reads.count == 1)
        client.session.security = Self.good
        // Requests of the real client in the meantime do not raise the rights.
        #expect(client.exchange([0x52, 28, 0, 1]).isEmpty)
        #expect(app.writes.count == 1)
        app.isSlow = false
        var answers = answer()
        #expect(answers.removeFirst() == [0x0B, 1])
        if access.octets[0] == 0x52 {
            #expect(answers.isEmpty)
        } else {
            #expect(answers == [client.error(access.octets[0], 31, .insufficientEncryption)])
        }
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(app.reads.isEmpty && app.writes.isEmpty && app.values[31] == [7])
        // The same request over the encrypted link.
        #expect(client.exchange(access.octets).first != 0x01)
    }

    /// A PDU that begins in the clear, wherever it is cut.
    @Test("AB-L08, AB-A13: a request that began while the link was clear is refused", arguments: ProtectedAccess.all)
    func requestsBegunInTheClearAreRefused(_ access: ProtectedAccess) {
        let octets = pdu(access.octets)
        for cut in 1..<octets.count {
            client.session.security = LinkSecurity(isEncrypted: false)
            receive(Array(octets[..<cut]), isStart: true)
            client.session.security = Self.good
            receive(Array(octets[cut...]), isStart: false)
            let answers = client.sent()
            if access.octets[0] == 0x52 {
                #expect(answers.isEmpty)
            } else {
                #expect(answers == [client.error(access.octets[0], 31, .insufficientEncryption)], "cut at \(cut)")
            }
        }
        #expect(app.reads.isEmpty)
        #expect(app.writes.isEmpty)
    }

    /// Security gained after the request does not help, and security lost after it counts.
    @Test("AB-A02, AB-A13: a request has the lowest level from its own beginning to its end")
    func everyLevelCountsFromItsOwnMoment() {
        let authenticated = Self.good
        for (then, now, code) in [
            (LinkSecurity(isEncrypted: true), authenticated, ATTErrorCode.insufficientAuthentication),
            (LinkSecurity(), authenticated, .insufficientEncryption),
            (authenticated, LinkSecurity(isEncrypted: true), .insufficientAuthentication),
            (authenticated, LinkSecurity(isEncrypted: false), .insufficientEncryption),
            (
                LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 7), authenticated,
                .encryptionKeySizeTooShort
            ),
        ] {
            client.session.security = then
            app.isSlow = true
            client.peer.inject([0x0A, 28, 0], on: 4)
            client.peer.inject([0x12, 31, 0, 9], on: 4)
            #expect(client.sent().isEmpty)
            client.session.security = now
            #expect(client.exchange([0x1E]).isEmpty)
            app.isSlow = false
            #expect(answer() == [[0x0B, 1], client.error(0x12, 31, code)])
        }
        #expect(app.writes.isEmpty)
    }

    /// Two values of one type, the second one protected: the app is asked for it only if the request's rights allow it.
    @Test("AB-L08: a request for several values has the same rights for all of them")
    func aRequestForSeveralValuesHasOneRight() throws {
        let permissions = [SecurityLevel.none, .encrypted].map { AttributePermissions(read: $0) }
        let published = try fixture.database.add(
            ServiceDefinition(
                0x1812,
                characteristics: permissions.map {
                    CharacteristicDefinition(0x2A4D, properties: .read, permissions: $0)
                }
            )
        )
        let handles = published.characteristics.map { UInt8($0.value) }
        for handle in handles { app.values[UInt16(handle)] = [handle] }
        app.isSlow = true
        client.peer.inject([0x08, handles[0], 0, handles[1], 0, 0x4D, 0x2A], on: 4)
        #expect(client.sent().isEmpty)
        #expect(app.reads.count == 1)
        client.session.security = Self.good
        app.isSlow = false
        #expect(answer() == [[0x09, 3, handles[0], 0, handles[0]]])
        #expect(app.reads.isEmpty)
    }

    /// AB-A02: the link loses its encryption while the app prepares the answer. Nothing protected is sent in the clear.
    @Test(
        "AB-A02: nothing protected is sent when the security is lost before the app answers",
        arguments: [
            [0x0A, 31, 0], [0x0C, 31, 0, 0, 0], [0x08, 31, 0, 31, 0, 0x3A, 0x2A], [0x0E, 31, 0, 14, 0],
            [0x20, 31, 0, 28, 0],
        ] as [[UInt8]]
    )
    func securityIsGoneWhenTheAppAnswers(request: [UInt8]) {
        client.session.security = Self.good
        app.isSlow = true
        #expect(client.exchange(request).isEmpty)
        #expect(app.reads.count == 1)
        client.session.security = LinkSecurity(isEncrypted: false)
        app.isSlow = false
        var answers = answer()
        // The second of two values.
        if answers.isEmpty { answers = answer() }
        #expect(answers == [client.error(request[0], 31, .insufficientEncryption)])
    }

    // MARK: Prepared writes

    /// A subscription that requires encryption, prepared in the clear and executed over the encrypted link.
    @Test("AB-A02, AB-L08: a part that was prepared in the clear is refused when executed", arguments: [false, true])
    func aPartPreparedInTheClear(isWaiting: Bool) throws {
        let value = try fixture.publish(.report([.notify, .indicate], notifiedAt: .encrypted))
        let configuration = UInt8(value + 1)
        let parts: [[UInt8]] = [[0x16, configuration, 0, 0, 0, 1], [0x16, configuration, 0, 1, 0, 0]]
        app.isSlow = isWaiting
        if isWaiting { client.peer.inject([0x0A, 28, 0], on: 4) }
        client.peer.inject(parts[0], on: 4)
        _ = client.sent()
        client.session.security = Self.good
        app.isSlow = false
        _ = answer()
        #expect(client.exchange(parts[1]).first == 0x17)
        #expect(client.exchange([0x18, 1]) == client.error(0x18, value + 1, .insufficientEncryption))
        #expect(client.session.configurations.isEmpty)
        for part in parts { #expect(client.exchange(part).first == 0x17) }
        #expect(client.exchange([0x18, 1]) == [0x19])
        #expect(client.session.configurations == [value: .notify])
    }

    // MARK: Signed writes

    /// Signatures are for unencrypted links; a write that began on one does not count on this one, and uses up no
    /// counter.
    @Test("AB-A12: a signed write partly in the clear uses up no counter")
    func aSignedWriteThatIsHalfInTheClear() throws {
        let pair = try SigningPair()
        try pair.write([1], to: pair.open)
        let signed = try #require(pair.sent().last)
        let other = try SigningPair()
        let octets = pdu(signed)
        for (before, after) in [(LinkSecurity(), Self.good), (Self.good, LinkSecurity(isEncrypted: false))] {
            other.peer.session.security = before
            other.peer.serverLink.onReceive?(PacketBuffer(Array(octets[..<8])), true)
            other.peer.session.security = after
            other.peer.serverLink.onReceive?(PacketBuffer(Array(octets[8...])), false)
            #expect(other.app.writes.isEmpty)
            #expect(other.counter == 0)
        }
        other.inject(signed)
        #expect(other.app.writes.count == 1)
        #expect(other.counter == 1)
    }
}

/// The other direction: a value that began in the clear does not belong to the encrypted link.
@Suite struct ClientSecurityChangeTests {
    let fixture: ServerFixture
    let peer: ConnectedClient
    let owner: RecordingLinkOwner
    var client: GATTClient { peer.client }

    private static let clear = LinkSecurity(isEncrypted: false)
    private static let encrypted = LinkSecurity(isEncrypted: true)

    init() throws {
        fixture = try ServerFixture()
        peer = fixture.client(mtu: 64)
        owner = RecordingLinkOwner(peer)
        fixture.app.values[28] = [7]
        _ = peer.link.takeSent()
    }

    private func run() { fixture.loop.run(for: .seconds(1)) }

    private func receive(_ octets: [UInt8], isStart: Bool) {
        peer.link.onReceive?(PacketBuffer(octets), isStart)
        run()
    }

    /// From a bonded peer, and from one that pairs in the meantime.
    @Test(
        "AB-A09, AB-A10: a value that began in the clear is dropped",
        arguments: [[0x1B, 23, 0, 1], [0x1D, 23, 0, 1], [0x23, 23, 0, 1, 0, 7, 24, 0, 1, 0, 8]] as [[UInt8]]
    )
    func aValueThatBeganInTheClear(value: [UInt8]) {
        let octets = [UInt8(value.count), 0, 4, 0] + value
        for before in [Self.clear, LinkSecurity()] {
            for cut in 1..<octets.count {
                client.security = before
                receive(Array(octets[..<cut]), isStart: true)
                client.security = Self.encrypted
                receive(Array(octets[cut...]), isStart: false)
                #expect(peer.values.isEmpty, "cut at \(cut)")
                // An indication is confirmed in any case.
                #expect(peer.link.takeSent(on: 4) == (value[0] == 0x1D ? [[0x1E]] : []))
            }
        }
        receive(octets, isStart: true)
        #expect(!peer.values.isEmpty)
    }

    /// The request goes out in the clear to an unknown peer. The response begins in the clear, and the two have paired
    /// before it ends. The request is repeated.
    @Test("AB-A10: a response that began in the clear is requested again")
    func anAnswerThatBeganInTheClear() {
        var values: [PacketBuffer] = []
        peer.serverLink.isHeld = true
        client.read(28) { if case .success(let value) = $0 { values.append(value) } }
        run()
        receive([2, 0, 4, 0], isStart: true)
        owner.become(Self.encrypted)
        peer.serverLink.isHeld = false
        receive([0x0B, 0xEE], isStart: false)
        run()
        #expect(values == [[7]])
        #expect(owner.causes.isEmpty)
    }

    /// A procedure of several requests whose first answer came in the clear from a peer that has since proved its
    /// identity.
    @Test("AB-A10: a value read in parts is read anew if the first part came in the clear")
    func anAnswerOfSeveralThatCameInTheClear() throws {
        fixture.app.isSlow = true
        fixture.app.values[28] = [UInt8](repeating: 7, count: 100)
        var values: [PacketBuffer] = []
        client.read(28) { if case .success(let value) = $0 { values.append(value) } }
        run()
        try #require(fixture.app.reads.count == 1)
        fixture.app.reads[0].respond(.success(PacketBuffer([UInt8](repeating: 0xEE, count: 63))))
        run()
        owner.become(Self.encrypted)
        fixture.app.isSlow = false
        fixture.app.reads.suffix(1).forEach(fixture.app.answer)
        run()
        #expect(values == [PacketBuffer([UInt8](repeating: 7, count: 100))])
        #expect(owner.causes.isEmpty)
    }
}
