import ATT
import BluetoothTypes
import GATT
import Testing

/// A link's security, and its effect on an attribute that requires encryption to read and authentication to write.
struct SecurityCase: Sendable {
    var security: LinkSecurity
    var read: ATTErrorCode?
    var write: ATTErrorCode?

    static let all = [
        SecurityCase(
            security: LinkSecurity(),
            read: .insufficientAuthentication,
            write: .insufficientAuthentication
        ),
        SecurityCase(
            security: LinkSecurity(isEncrypted: false),
            read: .insufficientEncryption,
            write: .insufficientEncryption
        ),
        SecurityCase(security: LinkSecurity(isEncrypted: true), read: nil, write: .insufficientAuthentication),
        SecurityCase(
            security: LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 7),
            read: .encryptionKeySizeTooShort,
            write: .encryptionKeySizeTooShort
        ),
        SecurityCase(security: LinkSecurity(isEncrypted: true, isAuthenticated: true), read: nil, write: nil),
    ]
}

@Suite struct ServerSecurityTests {
    let client: BareClient
    var app: RecordingApp { client.fixture.app }

    init() throws {
        client = try ServerFixture().bareClient()
        client.fixture.app.values[31] = [1]
    }

    /// Expects the request to be refused with `code`, or answered.
    private func check(_ request: [UInt8], _ code: ATTErrorCode?, at handle: UInt16 = 31) {
        let answer = client.exchange(request)
        if let code {
            #expect(answer == client.error(request[0], handle, code))
        } else {
            #expect(answer.first == request[0] + 1)
        }
    }

    @Test(
        "GATT/SR/GAR/BI-04, GATT/SR/GAR/BI-05, AB-A13: a read is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func readByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x0A, 31, 0], testCase.read)
    }

    @Test(
        "GATT/SR/GAR/BI-10, GATT/SR/GAR/BI-11: a read by type is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func readByTypeByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x08, 31, 0, 31, 0, 0x3A, 0x2A], testCase.read)
    }

    @Test(
        "GATT/SR/GAR/BI-16, GATT/SR/GAR/BI-17: a read blob is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func readBlobByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x0C, 31, 0, 0, 0], testCase.read)
    }

    @Test(
        "GATT/SR/GAR/BI-21, GATT/SR/GAR/BI-22: a read of several values is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func readMultipleByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x0E, 14, 0, 31, 0], testCase.read)
    }

    @Test(
        "GATT/SR/GAR/BI-42, GATT/SR/GAR/BI-44: a read of values of variable length is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func readMultipleVariableByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x20, 31, 0, 14, 0], testCase.read)
    }

    @Test(
        "GATT/SR/GAW/BI-05, GATT/SR/GAW/BI-06: a write is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func writeByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x12, 31, 0, 5], testCase.write)
        client.exchange([0x52, 31, 0, 6])
        #expect(app.values[31] == (testCase.write == nil ? [6] : [1]))
    }

    @Test(
        "GATT/SR/GAW/BI-12, GATT/SR/GAW/BI-13: a prepared write is refused with the cause given by the link's security",
        arguments: SecurityCase.all
    )
    func prepareWriteByCause(_ testCase: SecurityCase) {
        client.session.security = testCase.security
        check([0x16, 31, 0, 0, 0, 5], testCase.write)
    }

    @Test(
        "GATT/SR/GAR/BI-09, GATT/SR/GAR/BI-15, GATT/SR/GAR/BI-20, GATT/SR/GAR/BI-40: an app that does not authorize a read refuses every kind of read"
    )
    func authorizationOfReading() {
        app.refusals[28] = .insufficientAuthorization
        for request: [UInt8] in [
            [0x08, 28, 0, 28, 0, 0x39, 0x2A], [0x0C, 28, 0, 0, 0], [0x0E, 14, 0, 28, 0], [0x20, 14, 0, 28, 0],
        ] {
            check(request, .insufficientAuthorization, at: 28)
        }
    }

    /// Refused before anything is prepared, and accepted as soon as the user agrees.
    @Test(
        "GATT/SR/GAR/BI-03, GATT/SR/GAW/BI-04, GATT/SR/GAW/BI-11: a value that needs authorization is served once the user agrees"
    )
    func authorizationOfTheUser() throws {
        let published = try client.fixture.database.add(
            0x1812,
            CharacteristicDefinition(
                0x2A4D,
                properties: [.read, .write],
                permissions: AttributePermissions(
                    read: SecurityLevel.none,
                    write: SecurityLevel.none,
                    needsAuthorization: true
                )
            )
        )
        let handle = published.characteristics[0].value
        let value = UInt8(handle)
        let requests: [[UInt8]] = [
            [0x0A, value, 0], [0x0C, value, 0, 0, 0], [0x08, value, 0, value, 0, 0x4D, 0x2A], [0x0E, 14, 0, value, 0],
            [0x20, 14, 0, value, 0], [0x12, value, 0, 1], [0x16, value, 0, 0, 0, 1],
        ]
        for request in requests { check(request, .insufficientAuthorization, at: handle) }
        check([0x18, 1], nil)
        #expect(app.reads.isEmpty)
        #expect(app.writes.isEmpty)
        client.session.security.isAuthorized = true
        for request in requests { check(request, nil) }
        // AB-A02: revoked before the execution.
        client.session.security.isAuthorized = false
        check([0x18, 1], .insufficientAuthorization, at: handle)
        #expect(app.writes.count == 1)
    }

    @Test func authorizationOfWritingByTheApp() {
        app.refusals[28] = .insufficientAuthorization
        check([0x12, 28, 0, 1], .insufficientAuthorization, at: 28)
        check([0x16, 28, 0, 0, 0, 1], nil)
        check([0x18, 1], .insufficientAuthorization, at: 28)
        #expect(app.values[28] == nil)
    }

    @Test func subscribingMayAskForSecurity() throws {
        let published = try client.fixture.database.add(.keyboard)
        let handle = try #require(published.characteristics[0].configuration)
        check([0x12, UInt8(handle), 0, 1, 0], .insufficientAuthentication, at: handle)
        check([0x0A, UInt8(handle), 0], nil)
        client.session.security = LinkSecurity(isEncrypted: true)
        check([0x12, UInt8(handle), 0, 1, 0], nil)
    }
}
