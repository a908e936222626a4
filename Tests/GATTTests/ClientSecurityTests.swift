import ATT
import BluetoothTypes
import EventLoops
import GATT
import Testing

/// The owner of a client's link, which secures the link when the test tells it to.
final class RecordingLinkOwner {
    let peer: ConnectedClient
    private(set) var causes: [ATTErrorCode] = []
    private var retries: [(SecuringOutcome) -> Void] = []

    init(_ peer: ConnectedClient) {
        self.peer = peer
        peer.client.onInsufficientSecurity = { [weak self] code, retry in
            self?.causes.append(code)
            self?.retries.append(retry)
        }
    }

    /// Changes the security of the link at both ends.
    func become(_ security: LinkSecurity) {
        peer.client.security = security
        peer.session.security = security
    }

    /// Answers all pending retries, `times` times each.
    func answer(_ isSecured: Bool, times: Int = 1) {
        let asking = retries
        retries = []
        for retry in asking { for _ in 0..<times { retry(isSecured ? .secured : .untried) } }
    }

    func secure(_ security: LinkSecurity = LinkSecurity(isEncrypted: true, isAuthenticated: true)) {
        become(security)
        answer(true)
    }
}

/// A procedure on attribute 31, which requires encryption to read and authentication to write.
struct SecuredProcedure: Sendable, CustomTestStringConvertible {
    typealias Completion = (Result<Void, GATTError>) -> Void

    var testDescription: String
    var request: ATTOpcode
    var run: @Sendable (GATTClient, @escaping Completion) -> Void

    static let all = [
        SecuredProcedure(testDescription: "read", request: .readRequest) { client, end in
            client.read(31) { end($0.map { _ in }) }
        },
        SecuredProcedure(testDescription: "read from an offset", request: .readBlobRequest) { client, end in
            client.read(31, from: 1) { end($0.map { _ in }) }
        },
        SecuredProcedure(testDescription: "read by type", request: .readByTypeRequest) { client, end in
            client.readValues(of: 0x2A3A) { end($0.map { _ in }) }
        },
        SecuredProcedure(testDescription: "read multiple", request: .readMultipleRequest) { client, end in
            client.readMultiple([14, 31]) { end($0.map { _ in }) }
        },
        SecuredProcedure(testDescription: "read variable", request: .readMultipleVariableRequest) { client, end in
            client.readMultipleVariable([14, 31]) { end($0.map { _ in }) }
        },
        SecuredProcedure(testDescription: "write", request: .writeRequest) { client, end in
            client.write([1], to: 31, completion: end)
        },
        SecuredProcedure(testDescription: "long write", request: .prepareWriteRequest) { client, end in
            client.write(PacketBuffer([UInt8](repeating: 1, count: 100)), to: 31, completion: end)
        },
        SecuredProcedure(testDescription: "reliable write", request: .prepareWriteRequest) { client, end in
            client.writeReliably([(28, [1]), (31, [2])], completion: end)
        },
    ]
}

/// Behaviour 6.1: a request refused for lack of security is held, and repeated once the link is secure.
@Suite struct HeldProcedureTests {
    let fixture: ServerFixture
    let peer: ConnectedClient
    let owner: RecordingLinkOwner
    var app: RecordingApp { fixture.app }

    init() throws {
        fixture = try ServerFixture()
        peer = fixture.client(mtu: 23)
        owner = RecordingLinkOwner(peer)
        app.values[31] = [7, 8]
    }

    private func run() { fixture.loop.run(for: .seconds(1)) }

    @Test(
        "behaviour 6.1: every refused procedure is repeated once on the secured link",
        arguments: SecuredProcedure.all
    )
    func everyProcedureIsRepeatedOnce(_ procedure: SecuredProcedure) throws {
        var results: [Result<Void, GATTError>] = []
        procedure.run(peer.client) { results.append($0) }
        run()
        #expect(owner.causes == [.insufficientAuthentication])
        #expect(results.isEmpty)
        #expect(app.reads.allSatisfy { $0.handle != 31 })
        #expect(app.writes.isEmpty)
        owner.secure()
        run()
        #expect(results.count == 1)
        try #require(results.first).get()
        owner.answer(true)
        #expect(owner.causes.count == 1)
    }

    @Test(
        "behaviour 6.5: a procedure whose pairing is refused ends with the first error",
        arguments: SecuredProcedure.all
    )
    func afterARefusalTheFirstErrorIsGiven(_ procedure: SecuredProcedure) throws {
        var errors: [GATTError?] = []
        owner.become(LinkSecurity())
        procedure.run(peer.client) {
            if case .failure(let error) = $0 { errors.append(error) } else { errors.append(nil) }
        }
        run()
        owner.answer(false, times: 3)
        run()
        #expect(errors == [.att(ATTErrorResponse(.insufficientAuthentication, to: procedure.request, at: 31))])
        #expect(app.writes.isEmpty)
        // No prepared writes are left.
        owner.become(LinkSecurity(isEncrypted: true, isAuthenticated: true))
        _ = try peer.wait { peer.client.write(PacketBuffer([UInt8](repeating: 3, count: 40)), to: 28, completion: $0) }
        #expect(app.writes.last?.writes.allSatisfy { $0.handle == 28 } == true)
    }

    /// Descriptors and subscriptions (behaviours 6.3, 6.16).
    @Test("behaviour 6.3: refused descriptors and subscriptions are repeated too")
    func descriptorsAndSubscriptions() throws {
        let descriptor = DescriptorDefinition(
            0xAAAA,
            permissions: AttributePermissions(read: .encrypted, write: .encrypted),
            source: .asked
        )
        let definition = CharacteristicDefinition(
            0x2A4D,
            properties: .notify,
            permissions: AttributePermissions(),
            notification: .encrypted,
            descriptors: [descriptor]
        )
        let published = try fixture.database.add(ServiceDefinition(0x1812, characteristics: [definition]))
        let place = published.characteristics[0]
        let characteristic = DiscoveredCharacteristic(
            declaration: place.value - 1,
            value: place.value,
            end: published.handles.upperBound,
            properties: .notify,
            uuid: 0x2A4D
        )
        var ends: [String] = []
        peer.client.read(place.descriptors[0]) { _ in ends.append("read") }
        peer.client.write([1], to: place.descriptors[0]) { _ in ends.append("write") }
        peer.client.setNotifying(true, characteristic) { if case .success = $0 { ends.append("notify") } }
        run()
        #expect(ends.isEmpty)
        #expect(owner.causes.count == 3)
        owner.secure(LinkSecurity(isEncrypted: true))
        run()
        #expect(ends == ["read", "write", "notify"])
        #expect(app.values[place.descriptors[0]] == [1])
        #expect(fixture.server.update([9], of: place.value))
        run()
        #expect(peer.values == ["\(place.value) notification 09"])
    }

    /// Each cause at the second attempt: there is no third.
    @Test(
        "behaviour 6.22: a procedure that is refused twice is not repeated again",
        arguments: [
            (LinkSecurity(isEncrypted: true), ATTErrorCode.insufficientAuthentication),
            (LinkSecurity(isEncrypted: true, isAuthenticated: true, keySize: 7), .encryptionKeySizeTooShort),
        ]
    )
    func itIsRepeatedOnceOnly(_ security: LinkSecurity, _ code: ATTErrorCode) throws {
        var errors: [GATTError] = []
        peer.client.write([1], to: 31) { if case .failure(let error) = $0 { errors.append(error) } }
        run()
        owner.secure(security)
        run()
        #expect(owner.causes == [.insufficientAuthentication])
        #expect(errors == [.att(ATTErrorResponse(code, to: .writeRequest, at: 31))])
    }

    /// A server with more state than this side: a key exists, but the link is not encrypted.
    @Test func insufficientEncryptionIsACauseToo() throws {
        peer.session.security = LinkSecurity(isEncrypted: false)
        var value: PacketBuffer?
        peer.client.read(31) { value = try? $0.get() }
        run()
        #expect(owner.causes == [.insufficientEncryption])
        owner.secure()
        run()
        #expect(value == [7, 8])
    }

    @Test func otherErrorsAreNobodysBusiness() throws {
        app.refusals[28] = .insufficientAuthorization
        #expect(throws: GATTError.self) { _ = try peer.wait { peer.client.read(28, completion: $0) } }
        #expect(throws: GATTError.self) { _ = try peer.wait { peer.client.read(33, completion: $0) } }
        #expect(owner.causes.isEmpty)
    }

    @Test func withoutAnOwnerItFailsAtOnce() {
        peer.client.onInsufficientSecurity = nil
        let error = GATTError.att(ATTErrorResponse(.insufficientAuthentication, to: .readRequest, at: 31))
        #expect(throws: error) { _ = try peer.wait { peer.client.read(31, completion: $0) } }
    }

    /// The bearer is free while users look for their passkeys.
    @Test func othersGoOnMeanwhile() throws {
        var ends: [String] = []
        peer.client.read(31) { _ in ends.append("held") }
        peer.client.read(14) { _ in ends.append("free") }
        run()
        #expect(ends == ["free"])
        #expect(peer.client.write([5], withoutResponseTo: 28))
        fixture.loop.run(for: .seconds(60))
        #expect(app.values[28] == [5])
        #expect(try peer.wait { peer.client.discoverServices(completion: $0) }.count == 4)
        owner.secure()
        run()
        #expect(ends == ["free", "held"])
    }

    /// Requests keep their order, also when the link improves before the owner answers.
    @Test func theOrderIsKept() {
        var ends: [Int] = []
        for index in 0..<3 { peer.client.write([UInt8(index)], to: 31) { _ in ends.append(index) } }
        run()
        #expect(owner.causes.count == 3)
        owner.become(LinkSecurity(isEncrypted: true, isAuthenticated: true))
        for index in 3..<6 { peer.client.write([UInt8(index)], to: 31) { _ in ends.append(index) } }
        run()
        #expect(ends.isEmpty)
        #expect(app.writes.isEmpty)
        owner.answer(true)
        run()
        #expect(ends == [0, 1, 2, 3, 4, 5])
        #expect(app.writes.map { $0.writes[0].value.bytes } == (0..<6).map { [UInt8($0)] })
    }

    @Test(arguments: [false, true])
    func aLinkThatIsLostEndsWhatIsHeld(asksAgain: Bool) {
        var errors: [GATTError] = []
        for _ in 0..<3 { peer.client.read(31) { if case .failure(let error) = $0 { errors.append(error) } } }
        run()
        peer.disconnect()
        #expect(errors == Array(repeating: .bearer(.closed(.linkLost)), count: 3))
        owner.answer(asksAgain)
        run()
        #expect(errors.count == 3)
    }

    @Test func thereIsABound() {
        var results = 0
        for _ in 0..<GATTClient.maximumWaitingProcedures { peer.client.read(31) { _ in results += 1 } }
        fixture.loop.run(for: .seconds(5))
        #expect(owner.causes.count == GATTClient.maximumWaitingProcedures)
        var error: GATTError?
        peer.client.read(31) { if case .failure(let cause) = $0 { error = cause } }
        #expect(error == .queueFull)
        owner.secure()
        fixture.loop.run(for: .seconds(5))
        #expect(results == GATTClient.maximumWaitingProcedures)
    }

    /// An owner that answers immediately.
    @Test(arguments: [true, false])
    func theAnswerMayComeAtOnce(isSecured: Bool) {
        peer.client.onInsufficientSecurity = { [owner] _, retry in
            owner.become(LinkSecurity(isEncrypted: isSecured, hasKey: isSecured))
            retry(isSecured ? .secured : .untried)
        }
        var values: [PacketBuffer?] = []
        for _ in 0..<3 { peer.client.read(31) { values.append(try? $0.get()) } }
        run()
        let expected: PacketBuffer? = isSecured ? [7, 8] : nil
        #expect(values == Array(repeating: expected, count: 3))
    }
}
