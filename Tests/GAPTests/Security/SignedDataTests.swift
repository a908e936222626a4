import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// LE security mode 2 (Core Vol 3 Part C 10.4), between two complete devices that exchanged signing keys when they
/// bonded, over unencrypted links.
@Suite struct SignedDataTests {
    /// A bonded client, and a server with a value that accepts only signed or encrypted writes.
    private final class Signing {
        let pair: SecurePair
        let role: LERole
        let handle: UInt16
        private let app = Recorder()

        var client: SecureDevice { pair.device(role) }
        var server: SecureDevice { pair.device(role == .central ? .peripheral : .central) }
        var written: [[UInt8]] { app.written }

        init(_ role: LERole) throws {
            var configuration = PairingConfiguration()
            configuration.givenKeys.insert(.signing)
            configuration.wantedKeys.insert(.signing)
            pair = try SecurePair(central: configuration, peripheral: configuration)
            self.role = role
            let definition = CharacteristicDefinition(
                0xF1F1,
                properties: [.write, .authenticatedSignedWrites],
                permissions: AttributePermissions(write: SecurityLevel.none, needsSignature: true)
            )
            let server = pair.device(role == .central ? .peripheral : .central).server
            let service = ServiceDefinition(0xF1F0, characteristics: [definition])
            handle = try server.database.add(service).characteristics[0].value
            server.delegate = app
            for device in [pair.central, pair.peripheral] { device.deviceSecurity.policy.encryptsBondedPeers = false }
            try pair.bond()
            try reconnect()
        }

        /// Disconnects, and connects again without encryption.
        func reconnect() throws {
            pair.disconnect()
            try pair.connect()
            let signer = try #require(client.link).secureLink.manager
            let verifier = try #require(server.link).secureLink.manager
            try #require(client.client).sign = { signer.sign($0) }
            try #require(server.session).verifySignature = { verifier.verify($0, signature: $1) }
            #expect(client.link?.secureLink.linkSecurity.isEncrypted == false)
        }

        func write(_ value: UInt8) throws {
            #expect(try #require(client.client).writeSigned([value], to: handle))
            pair.world.run(.seconds(1))
        }

        /// The sign counter that the server expects next, in memory and in its bond.
        func counters() throws -> [UInt32?] {
            [server.link?.secureLink.manager.keys?.peerSignCounter, server.bonds.bonds.first?.keys.peerSignCounter]
        }
    }

    private final class Recorder: GATTServerDelegate {
        private(set) var written: [[UInt8]] = []

        func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
            request.respond(.failure(.unlikelyError))
        }

        func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
            written += request.writes.map(\.value.bytes)
            request.respond(nil)
        }
    }

    @Test(
        "GAP/SEC/CSIGN/BV-01, GAP/SEC/CSIGN/BV-02: signed data are sent and accepted",
        arguments: [LERole.central, .peripheral]
    )
    func signedDataAreSentAndAccepted(_ role: LERole) throws {
        let signing = try Signing(role)
        for value: UInt8 in 0..<3 { try signing.write(value) }
        #expect(signing.written == [[0], [1], [2]])
        #expect(try signing.counters() == [3, 3])
        // The counter continues on the next link.
        try signing.reconnect()
        try signing.write(3)
        #expect(signing.written == [[0], [1], [2], [3]])
        #expect(try signing.counters() == [4, 4])
        // Over an encrypted link nothing is signed.
        #expect(try #require(try signing.pair.secure(.central)).isSuccess)
        try signing.write(4)
        #expect(signing.written.last == [4])
        #expect(try signing.counters() == [4, 4])
    }

    @Test(
        "GAP/SEC/CSIGN/BI-01, AB-A12: signed data with a wrong MAC are ignored",
        arguments: [LERole.central, .peripheral]
    )
    func aWrongCode(_ role: LERole) throws {
        let signing = try Signing(role)
        let client = try #require(signing.client.client)
        let sign = try #require(client.sign)
        client.sign = { message in
            guard var signature = sign(message) else { return nil }
            signature[11] ^= 0x80
            return signature
        }
        try signing.write(1)
        #expect(signing.written.isEmpty)
        #expect(try signing.counters() == [0, 0])
        client.sign = sign
        try signing.write(2)
        #expect(signing.written == [[2]])
    }

    /// On the same link, and on the next one: the bond stores the counter.
    @Test(
        "GAP/SEC/CSIGN/BI-02, AB-A12: signed data with a used counter are ignored",
        arguments: [LERole.central, .peripheral]
    )
    func aNumberThatHasBeenSeen(_ role: LERole) throws {
        let signing = try Signing(role)
        var signatures: [PacketBuffer] = []
        let client = try #require(signing.client.client)
        let sign = try #require(client.sign)
        client.sign = { message in
            let signature = sign(message)
            if let signature { signatures.append(signature) }
            return signature
        }
        try signing.write(1)
        let heard = try #require(signatures.first)
        for _ in 0..<2 {
            let command = ATTSignedWriteCommand(handle: signing.handle, value: [1], signature: heard)
            #expect(try #require(signing.client.client).bearer.write(command))
            signing.pair.world.run(.seconds(1))
            #expect(signing.written == [[1]])
            #expect(try signing.counters() == [1, 1])
            try signing.reconnect()
        }
    }

    @Test(
        "GAP/SEC/CSIGN/BI-03, AB-A12: a server that has lost the bond ignores signed data",
        arguments: [LERole.central, .peripheral]
    )
    func aServerWithoutTheBond(_ role: LERole) throws {
        let signing = try Signing(role)
        let bond = try #require(signing.server.bonds.bonds.first)
        try signing.server.deviceSecurity.forget(bond.identifier)
        for _ in 0..<2 {
            try signing.reconnect()
            try signing.write(1)
            #expect(signing.written.isEmpty)
        }
    }

    /// A counter that could not be stored would be accepted again on the next link.
    @Test(
        "AB-A12: a signature whose counter cannot be stored is rejected",
        arguments: [LERole.central, .peripheral]
    )
    func aNumberThatCannotBeKeptCountsForNothing(_ role: LERole) throws {
        let signing = try Signing(role)
        signing.client.storage.failure = .tooLarge(place: "memory")
        let client = try #require(signing.client.client)
        #expect(throws: GATTError.noSigningKey) { try client.writeSigned([1], to: signing.handle) }
        signing.client.storage.failure = nil
        signing.server.storage.failure = .tooLarge(place: "memory")
        try signing.write(2)
        #expect(signing.written.isEmpty)
        #expect(try signing.counters() == [0, 0])
        signing.server.storage.failure = nil
        try signing.write(3)
        #expect(signing.written == [[3]])
        #expect(try signing.counters() == [2, 2])
    }

    @Test(
        "GAP/SEC/CSIGN/BI-04: a write request where a signature is required gets insufficient authentication",
        arguments: [LERole.central, .peripheral]
    )
    func aRequestIsInsufficientAuthentication(_ role: LERole) throws {
        let signing = try Signing(role)
        let client = try #require(signing.client.client)
        // A client that wrongly writes in the clear.
        client.security = LinkSecurity()
        var result: Result<Void, GATTError>?
        client.write([1], to: signing.handle) { result = $0 }
        signing.pair.world.run { result != nil }
        #expect(result?.refusal == .insufficientAuthentication)
        #expect(signing.written.isEmpty)
        #expect(try #require(try signing.pair.secure(.central)).isSuccess)
        result = nil
        client.write([2], to: signing.handle) { result = $0 }
        signing.pair.world.run { result != nil }
        #expect(result?.isSuccess == true)
        #expect(signing.written == [[2]])
    }
}
