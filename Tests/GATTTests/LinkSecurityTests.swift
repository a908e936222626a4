import ATT
import BluetoothTypes
import GATT
import Testing

/// One row of table 10.2 of Core Vol 3 Part C: a link, and the outcome of each requirement on it.
struct LinkSecurityRow: Sendable, CustomTestStringConvertible {
    var security: LinkSecurity
    var encrypted: ATTErrorCode?
    var authenticated: ATTErrorCode?
    var secureConnections: ATTErrorCode?
    var testDescription: String

    init(
        _ name: String,
        _ security: LinkSecurity,
        _ encrypted: ATTErrorCode? = nil,
        _ authenticated: ATTErrorCode? = nil,
        _ secureConnections: ATTErrorCode? = nil
    ) {
        testDescription = name
        self.security = security
        self.encrypted = encrypted
        self.authenticated = authenticated
        self.secureConnections = secureConnections
    }

    private static let weak = ATTErrorCode.insufficientAuthentication
    private static let clear = ATTErrorCode.insufficientEncryption
    private static let short = ATTErrorCode.encryptionKeySizeTooShort

    static let all = [
        LinkSecurityRow("no key", LinkSecurity(), weak, weak, weak),
        LinkSecurityRow("an unauthenticated key", LinkSecurity(isEncrypted: false), clear, clear, clear),
        LinkSecurityRow(
            "an authenticated key of legacy pairing",
            LinkSecurity(isEncrypted: false, isAuthenticated: true),
            clear,
            clear,
            clear
        ),
        LinkSecurityRow(
            "an authenticated key of Secure Connections",
            LinkSecurity(isEncrypted: false, isAuthenticated: true, isSecureConnections: true),
            clear,
            clear,
            clear
        ),
        LinkSecurityRow("encrypted, unauthenticated", LinkSecurity(isEncrypted: true), nil, weak, weak),
        LinkSecurityRow(
            "encrypted, unauthenticated Secure Connections",
            LinkSecurity(isEncrypted: true, isSecureConnections: true),
            nil,
            weak,
            weak
        ),
        LinkSecurityRow(
            "encrypted, authenticated legacy",
            LinkSecurity(isEncrypted: true, isAuthenticated: true),
            nil,
            nil,
            weak
        ),
        LinkSecurityRow(
            "encrypted, authenticated Secure Connections",
            LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true)
        ),
        LinkSecurityRow(
            "a short key",
            LinkSecurity(isEncrypted: true, isAuthenticated: true, isSecureConnections: true, keySize: 15),
            short,
            short,
            short
        ),
        LinkSecurityRow(
            "a short key that is not good enough besides",
            LinkSecurity(isEncrypted: true, keySize: 7),
            short,
            weak,
            weak
        ),
    ]
}

@Suite struct LinkSecurityTests {
    @Test(arguments: LinkSecurityRow.all)
    func eachRequirementOnEachLink(_ row: LinkSecurityRow) {
        #expect(row.security.attributeRefusal(of: .none) == nil)
        #expect(row.security.attributeRefusal(of: .encrypted) == row.encrypted)
        #expect(row.security.attributeRefusal(of: .authenticated) == row.authenticated)
        #expect(row.security.attributeRefusal(of: .secureConnections) == row.secureConnections)
        // Secure Connections Only: level 1 or level 4, nothing in between (Core Vol 3 Part C 10.2.4).
        var security = row.security
        security.isSecureConnectionsOnly = true
        #expect(security.attributeRefusal(of: .none) == nil)
        for requirement in [SecurityLevel.encrypted, .authenticated, .secureConnections] {
            #expect(security.attributeRefusal(of: requirement) == row.secureConnections)
        }
    }

    /// Every kind of access to a value that requires level 4, as octets; the app is asked only on a sufficient link.
    @Test("AB-A13: every access to a protected value is refused with its cause", arguments: LinkSecurityRow.all)
    func everyAccessIsRefusedByCause(_ row: LinkSecurityRow) throws {
        let client = try ServerFixture().bareClient()
        let app = client.fixture.app
        let published = try client.fixture.database.add(
            0x1812,
            CharacteristicDefinition(
                0x2A4D,
                properties: [.read, .write, .writeWithoutResponse],
                permissions: AttributePermissions(read: .secureConnections, write: .secureConnections)
            )
        )
        client.session.security = row.security
        let handle = published.characteristics[0].value
        let low = UInt8(handle)
        for request: [UInt8] in [
            [0x0A, low, 0], [0x0C, low, 0, 0, 0], [0x08, low, 0, low, 0, 0x4D, 0x2A], [0x0E, 14, 0, low, 0],
            [0x20, 14, 0, low, 0], [0x12, low, 0, 1], [0x16, low, 0, 0, 0, 1],
        ] {
            let answer = client.exchange(request)
            if let code = row.secureConnections {
                #expect(answer == client.error(request[0], handle, code))
            } else {
                #expect(answer.first == request[0] + 1)
            }
        }
        #expect(client.exchange([0x52, low, 0, 2]).isEmpty)
        #expect(app.reads.isEmpty == (row.secureConnections != nil))
        #expect(app.writes.isEmpty == (row.secureConnections != nil))
    }

    /// Behaviour 6.2: any client may discover the database.
    @Test("behaviour 6.2: discovery needs no security", arguments: [false, true])
    func discoveryNeedsNoSecurity(isOnly: Bool) throws {
        let client = try ServerFixture().bareClient()
        client.session.security.isSecureConnectionsOnly = isOnly
        #expect(client.exchange([0x10, 19, 0, 0xFF, 0xFF, 0, 0x28]).first == 0x11)
        #expect(client.exchange([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0D, 0x18]) == [0x07, 19, 0, 33, 0])
        #expect(client.exchange([0x08, 19, 0, 21, 0, 2, 0x28]).first == 0x09)
        // The declaration of the protected value, and the value's type.
        #expect(client.exchange([0x08, 30, 0, 34, 0, 3, 0x28]).prefix(4) == [0x09, 7, 30, 0])
        #expect(client.exchange([0x04, 31, 0, 31, 0]) == [0x05, 1, 31, 0, 0x3A, 0x2A])
        #expect(client.exchange([0x0A, 30, 0]).first == 0x0B)
    }
}

/// Subscriptions with notifications open to every client and indications that require encryption, or the other way
/// round.
@Suite struct SubscriptionSecurityTests {
    let client: BareClient
    var app: RecordingApp { client.fixture.app }

    init() throws {
        client = try ServerFixture().bareClient()
    }

    /// Publishes one characteristic; its configuration follows its value.
    private func publish(_ notification: SecurityLevel, _ indication: SecurityLevel) throws -> UInt16 {
        let definition = CharacteristicDefinition(
            0x2A4D,
            properties: [.notify, .indicate],
            permissions: AttributePermissions(),
            notification: notification,
            indication: indication
        )
        let service = ServiceDefinition(0x1812, characteristics: [definition])
        return try client.fixture.database.add(service).characteristics[0].value
    }

    private func choose(_ choice: UInt8, _ handle: UInt16) -> [UInt8] {
        client.exchange([0x12, UInt8(handle + 1), 0, choice, 0])
    }

    private func update(_ value: UInt8, _ handle: UInt16) -> [[UInt8]] {
        #expect(client.fixture.server.update([value], of: handle))
        return client.sent()
    }

    @Test("behaviour 6.15: notifications and indications have separate security requirements")
    func notificationsAndIndicationsAskSeparately() throws {
        for (notification, indication) in [
            (SecurityLevel.encrypted, SecurityLevel.none), (.none, .encrypted),
        ] {
            let handle = try publish(notification, indication)
            let (free, bound): (UInt8, UInt8) = notification == .none ? (1, 2) : (2, 1)
            let refusal = client.error(0x12, handle + 1, .insufficientAuthentication)
            client.session.security = LinkSecurity()
            #expect(choose(bound, handle) == refusal)
            #expect(choose(3, handle) == refusal)
            #expect(choose(free, handle) == [0x13])
            client.session.security = LinkSecurity(isEncrypted: true)
            #expect(choose(bound, handle) == [0x13])
            // A client that may not subscribe may not unsubscribe either.
            client.session.security = LinkSecurity(isEncrypted: false)
            #expect(choose(0, handle) == client.error(0x12, handle + 1, .insufficientEncryption))
            #expect(choose(free, handle) == client.error(0x12, handle + 1, .insufficientEncryption))
            #expect(client.exchange([0x0A, UInt8(handle + 1), 0]) == [0x0B, bound, 0])
        }
    }

    @Test func aConfigurationIsPreparedAndRefusedWhenItIsExecuted() throws {
        let handle = try publish(.none, .authenticated)
        let octet = UInt8(handle + 1)
        client.session.security = LinkSecurity(isEncrypted: true)
        #expect(client.exchange([0x16, octet, 0, 0, 0, 2, 0]).first == 0x17)
        #expect(client.exchange([0x18, 1]) == client.error(0x18, handle + 1, .insufficientAuthentication))
        #expect(client.exchange([0x16, octet, 0, 0, 0, 1, 0]).first == 0x17)
        #expect(client.exchange([0x18, 1]) == [0x19])
    }

    /// The value goes by the procedure for which the link is sufficient.
    @Test func aValueGoesTheWayThatTheLinkIsGoodFor() throws {
        let handle = try publish(.encrypted, .none)
        client.session.security = LinkSecurity(isEncrypted: true)
        #expect(choose(3, handle) == [0x13])
        #expect(update(1, handle) == [[0x1B, UInt8(handle), 0, 1]])
        client.session.security = LinkSecurity(isEncrypted: false)
        #expect(update(2, handle) == [[0x1D, UInt8(handle), 0, 2]])
    }

    /// The server requests encryption before it sends, once per level and state of the link.
    @Test(arguments: [false, true])
    func theOwnerIsAskedForSecurity(isOnly: Bool) throws {
        let level2 = try publish(.encrypted, .encrypted)
        let level3 = try publish(.authenticated, .authenticated)
        var asked: [SecurityLevel] = []
        client.session.onSecurityNeeded = { asked.append($0) }
        var security = LinkSecurity(isEncrypted: false)
        security.isSecureConnectionsOnly = isOnly
        client.session.security = security
        client.session.restore(ClientRecord(configurations: [level2: .notify]))
        let first = isOnly ? SecurityLevel.secureConnections : .encrypted
        #expect(asked == [first])
        for _ in 0..<3 { #expect(update(1, level2).isEmpty) }
        #expect(asked == [first])
        client.session.restore(ClientRecord(configurations: [level3: .indicate]))
        #expect(update(1, level3).isEmpty)
        #expect(asked == [first, isOnly ? .secureConnections : .authenticated])
        // When the link changes, the owner is asked again as soon as there is something to send.
        client.session.security.encryption = KeyLevel()
        #expect(asked.count == 2)
        #expect(update(1, level3).isEmpty)
        #expect(asked.count == 3)
        client.session.security.encryption = KeyLevel(isAuthenticated: true, isSecureConnections: true)
        #expect(update(2, level2) == [[0x1B, UInt8(level2), 0, 2]])
        #expect(update(2, level3) == [[0x1D, UInt8(level3), 0, 2]])
        #expect(asked.count == 3)
    }

    @Test func severalValuesAtOnceAskToo() throws {
        let handle = try publish(.encrypted, .encrypted)
        var asked: [SecurityLevel] = []
        client.session.onSecurityNeeded = { asked.append($0) }
        client.session.security = LinkSecurity(isEncrypted: true)
        #expect(choose(1, handle) == [0x13])
        client.session.security = LinkSecurity(isEncrypted: false)
        let value: PacketBuffer = [1]
        #expect(client.fixture.server.update([(handle, value)]))
        #expect(client.sent().isEmpty)
        #expect(asked == [.encrypted])
    }
}
