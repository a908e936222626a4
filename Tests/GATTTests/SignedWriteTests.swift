import ATT
import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import SMP
import Testing

/// A client and a server that have exchanged signing keys, with the managers that sign and verify.
final class SigningPair {
    let fixture: ServerFixture
    let peer: ConnectedClient
    let managers: [SecurityManager]
    /// Accepts signed writes, and others.
    let open: UInt16
    /// Accepts writes only if they are signed or the link is encrypted.
    let signedOnly: UInt16

    var client: GATTClient { peer.client }
    var app: RecordingApp { fixture.app }

    init(clientKey: UInt8? = 1, serverKey: UInt8? = 1) throws {
        fixture = try ServerFixture()
        let writable = AttributePermissions(write: SecurityLevel.none)
        let signed = AttributePermissions(write: SecurityLevel.none, needsSignature: true)
        let characteristics = [writable, signed].map {
            CharacteristicDefinition(
                0x2A4D,
                properties: [.write, .writeWithoutResponse, .authenticatedSignedWrites],
                permissions: $0
            )
        }
        let published = try fixture.database.add(ServiceDefinition(0x1812, characteristics: characteristics))
        open = published.characteristics[0].value
        signedOnly = published.characteristics[1].value
        peer = fixture.client(mtu: 64)
        managers = [
            Self.manager(.initiator, peer.connections[0], fixture.loop, clientKey),
            Self.manager(.responder, peer.connections[1], fixture.loop, serverKey),
        ]
        peer.client.sign = { [managers] in managers[0].sign($0) }
        peer.session.verifySignature = { [managers] in managers[1].verify($0, signature: $1) }
        _ = peer.link.takeSent()
    }

    private static func manager(
        _ role: PairingRole,
        _ connection: L2CAPConnection,
        _ loop: any EventLoop,
        _ key: UInt8?
    ) -> SecurityManager {
        var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: false))
        let key = key.map { Key128(Block128(high: 0, low: UInt64($0))) }
        if role == .initiator { keys.localSigningKey = key } else { keys.peerSigningKey = key }
        return SecurityManager(
            channel: connection.register(.securityManager, maximumPayload: SecurityManager.maximumPayload),
            role: role,
            ownAddress: BluetoothAddress(1, kind: .publicDevice),
            peerAddress: BluetoothAddress(2, kind: .publicDevice),
            loop: loop,
            random: RandomSource(seed: 1),
            keys: keys
        )
    }

    /// The counter that the server expects next.
    var counter: UInt32? { managers[1].keys?.peerSignCounter }

    func write(_ value: PacketBuffer, to handle: UInt16) throws {
        #expect(try client.writeSigned(value, to: handle))
        fixture.loop.run(for: .seconds(1))
    }

    /// The PDUs that the client has sent.
    func sent() -> [[UInt8]] { peer.link.takeSent(on: 4) }

    func inject(_ octets: [UInt8]) {
        peer.link.inject(octets, on: 4)
        fixture.loop.run(for: .seconds(1))
    }
}

/// Signed writes (Core Vol 3 Part F 3.4.5.4, Part G 4.9.2, Part C 10.4).
@Suite struct SignedWriteTests {
    @Test("GATT/CL/GAW/BV-02, GATT/SR/GAW/BV-02, GAP/SEC/CSIGN/BV-01, GAP/SEC/CSIGN/BV-02: a signed write is accepted")
    func signedAndAccepted() throws {
        let pair = try SigningPair()
        for (index, handle) in [pair.open, pair.signedOnly, pair.open].enumerated() {
            try pair.write([UInt8(index), 5], to: handle)
            #expect(pair.app.values[handle] == [UInt8(index), 5])
            #expect(pair.counter == UInt32(index) + 1)
            let pdu = try #require(pair.sent().first)
            // Opcode, handle, value, the counter, the MAC.
            #expect(pdu.count == 3 + 2 + 12)
            #expect(pdu.prefix(9) == [0xD2, UInt8(handle), 0, UInt8(index), 5, UInt8(index), 0, 0, 0])
        }
        #expect(pair.app.writes.allSatisfy { !$0.expectsResponse })
        // There is no response.
        #expect(pair.peer.serverLink.sent.filter { $0.count == 5 }.isEmpty)
    }

    @Test("GATT/SR/GAW/BI-01, GAP/SEC/CSIGN/BI-01, AB-A12: a signed write with a wrong signature is ignored")
    func aWrongSignature() throws {
        let pair = try SigningPair(clientKey: 2)
        try pair.write([1], to: pair.open)
        #expect(pair.app.writes.isEmpty)
        #expect(pair.counter == 0)
        // Every octet of the PDU is covered.
        let good = try SigningPair()
        try good.write([1], to: good.open)
        let pdu = try #require(good.sent().first)
        for index in pdu.indices.dropFirst() {
            let other = try SigningPair()
            var changed = pdu
            changed[index] ^= 1
            other.inject(changed)
            #expect(other.app.writes.isEmpty && other.counter == 0, "\(index)")
            other.inject(pdu)
            #expect(other.app.writes.count == 1)
        }
    }

    @Test("GAP/SEC/CSIGN/BI-02, AB-A12: a signed write with a used counter is ignored")
    func aCounterThatHasBeenSeen() throws {
        let pair = try SigningPair()
        for value: UInt8 in 0..<3 { try pair.write([value], to: pair.open) }
        let heard = pair.sent()
        #expect(pair.counter == 3)
        for pdu in heard { pair.inject(pdu) }
        #expect(pair.app.writes.count == 3)
        #expect(pair.counter == 3)
        #expect(pair.app.values[pair.open] == [2])
        try pair.write([9], to: pair.open)
        #expect(pair.app.values[pair.open] == [9] && pair.counter == 4)
    }

    /// An attacker replays on a second link what the client sends on the first while both exist: at the same time,
    /// later, and before it arrives there. Each signature counts once for all links of the device, since the key has a
    /// single counter.
    @Test("AB-A12: a signed write that is replayed on a second link at the same time counts once")
    func aReplayOnASecondLinkAtTheSameTime() throws {
        let pair = try SigningPair()
        let second = pair.fixture.client(mtu: 64)
        second.session.verifySignature = { [managers = pair.managers] in managers[1].verify($0, signature: $1) }
        pair.peer.link.isHeld = true
        for value: UInt8 in 1...3 { #expect(try pair.client.writeSigned([value], to: pair.open)) }
        pair.peer.link.isHeld = false
        let heard = pair.sent()
        #expect(heard.count == 3)
        // At the same time, with the last one arriving first on the other link.
        for pdu in heard.reversed() { second.link.inject(pdu, on: 4) }
        pair.fixture.loop.run(for: .seconds(1))
        #expect(pair.app.writes.map { $0.writes[0].value.bytes } == [[1], [2], [3]] && pair.counter == 3)
        for pdu in heard { second.link.inject(pdu, on: 4) }
        pair.fixture.loop.run(for: .seconds(1))
        #expect(pair.app.writes.count == 3)
        #expect(pair.counter == 3)
        // One that reaches the server over the second link first is used up there.
        var signature = PacketBuffer(headroom: 0)
        let sign = try #require(pair.client.sign)
        pair.client.sign = { message in
            let signed = sign(message)
            signature = signed ?? signature
            return signed
        }
        pair.peer.link.isHeld = true
        #expect(try pair.client.writeSigned([4], to: pair.open))
        second.link.inject([0xD2, UInt8(pair.open), 0, 4] + signature.bytes, on: 4)
        pair.fixture.loop.run(for: .seconds(1))
        #expect(pair.app.writes.count == 4)
        #expect(pair.counter == 4)
        pair.peer.link.isHeld = false
        pair.fixture.loop.run(for: .seconds(1))
        #expect(pair.app.writes.count == 4)
        #expect(pair.counter == 4)
    }

    /// No bond on one side: the server has no key, or the client has none and sends nothing.
    @Test("GAP/SEC/CSIGN/BI-03, AB-A12: without a key a signed write is neither sent nor accepted")
    func noKeyNoSignature() throws {
        let pair = try SigningPair(serverKey: nil)
        try pair.write([1], to: pair.open)
        #expect(pair.app.writes.isEmpty)
        #expect(pair.counter == 0)
        pair.peer.session.verifySignature = nil
        try pair.write([1], to: pair.open)
        #expect(pair.app.writes.isEmpty)
        let other = try SigningPair(clientKey: nil)
        #expect(throws: GATTError.noSigningKey) { try other.write([1], to: other.open) }
        other.client.sign = nil
        #expect(throws: GATTError.noSigningKey) { try other.write([1], to: other.open) }
        #expect(other.sent().isEmpty)
    }

    /// Where a signature is required, a write request without encryption is refused, and a plain write command is
    /// ignored (Core Vol 3 Part C 10.4.2).
    @Test("GAP/SEC/CSIGN/BI-04: a write request where GATT requires a signature gets insufficient authentication")
    func aRequestInPlaceOfASignature() throws {
        let pair = try SigningPair()
        for security in [LinkSecurity(), LinkSecurity(isEncrypted: false)] {
            pair.peer.session.security = security
            let handle = pair.signedOnly
            for (request, run) in [
                (ATTOpcode.writeRequest, { pair.client.write([1], to: handle, completion: $0) }),
                (.prepareWriteRequest, { pair.client.writeReliably([(handle, [1])], completion: $0) }),
            ] as [(ATTOpcode, (@escaping (Result<Void, GATTError>) -> Void) -> Void)] {
                let error = GATTError.att(ATTErrorResponse(.insufficientAuthentication, to: request, at: handle))
                #expect(throws: error) { try pair.peer.wait(run) }
            }
            #expect(pair.client.write([1], withoutResponseTo: handle))
            pair.fixture.loop.run(for: .seconds(1))
            #expect(pair.app.writes.isEmpty)
        }
        // Encryption replaces a signature.
        pair.peer.session.security = LinkSecurity(isEncrypted: true)
        try pair.peer.wait { pair.client.write([2], to: pair.signedOnly, completion: $0) }
        #expect(pair.app.values[pair.signedOnly] == [2])
    }

    @Test("AB-A12: a signed write over an encrypted link is ignored")
    func overAnEncryptedLink() throws {
        let pair = try SigningPair()
        try pair.write([1], to: pair.open)
        let signature = try #require(pair.sent().first)
        let other = try SigningPair()
        other.peer.session.security = LinkSecurity(isEncrypted: true)
        other.inject(signature)
        #expect(other.app.writes.isEmpty)
        #expect(other.counter == 0)
        // On an encrypted link the client does not sign, and the write is accepted.
        other.client.security = LinkSecurity(isEncrypted: true)
        _ = other.sent()
        try other.write([3], to: other.signedOnly)
        #expect(other.sent() == [[0x52, UInt8(other.signedOnly), 0, 3]])
        #expect(other.app.values[other.signedOnly] == [3])
        #expect(other.managers[0].keys?.localSignCounter == 0)
    }

    /// Never over an enhanced bearer, in either direction.
    @Test("GATT/SR/GAW/BI-38, AB-A12: a signed write over an enhanced bearer is neither sent nor accepted")
    func overAnEnhancedBearer() throws {
        let pair = try SigningPair()
        try pair.write([1], to: pair.open)
        let pdu = try #require(pair.sent().first)
        let other = try SigningPair()
        other.peer.addBearer(on: 0x40, mtu: 64)
        other.peer.link.inject(pdu, on: 0x40)
        other.fixture.loop.run(for: .seconds(1))
        #expect(other.app.writes.isEmpty)
        #expect(other.counter == 0)
        let enhanced = try #require(other.client.bearers.last)
        #expect(!enhanced.write(ATTSignedWriteCommand(handle: other.open, value: [1], signature: PacketBuffer([]))))
    }

    /// A signature has no effect where the characteristic does not allow signed writes, and is used up there.
    @Test func onlyWhereTheCharacteristicAllowsIt() throws {
        let pair = try SigningPair()
        for handle: UInt16 in [28, 31, 14, 99, 0] { try pair.write([1], to: handle) }
        #expect(pair.app.writes.isEmpty)
        #expect(pair.counter == 5)
    }

    /// GATT/SR/GAW/BI-40: a value longer than any attribute's.
    @Test("GATT/SR/GAW/BI-40: a signed write of too long a value is ignored")
    func aValueThatIsTooLong() throws {
        let pair = try SigningPair()
        let peer = pair.fixture.client(mtu: 1000, peerMTU: 1000)
        peer.session.verifySignature = { [managers = pair.managers] in managers[1].verify($0, signature: $1) }
        peer.client.sign = { [managers = pair.managers] in managers[0].sign($0) }
        for (length, isTaken) in [(513, false), (512, true)] {
            #expect(try peer.client.writeSigned(PacketBuffer([UInt8](repeating: 1, count: length)), to: pair.open))
            pair.fixture.loop.run(for: .seconds(1))
            #expect(pair.app.writes.isEmpty == !isTaken)
        }
        // A value that does not fit the MTU together with its signature is not sent.
        let short = pair.client.bearer.mtu - 15
        #expect(throws: GATTError.valueTooLong(short + 1)) {
            try pair.write(PacketBuffer([UInt8](repeating: 1, count: short + 1)), to: pair.open)
        }
        try pair.write(PacketBuffer([UInt8](repeating: 2, count: short)), to: pair.open)
        #expect(pair.app.values[pair.open] == [UInt8](repeating: 2, count: short))
    }

    /// A bonded peer need not encrypt for a signed write: avoiding that is the purpose of signatures.
    @Test func signedWritesDoNotWaitForEncryption() throws {
        let pair = try SigningPair()
        pair.client.security = LinkSecurity(isEncrypted: false)
        pair.peer.session.security = LinkSecurity(isEncrypted: false)
        try pair.write([4], to: pair.signedOnly)
        #expect(pair.app.values[pair.signedOnly] == [4])
    }

    @Test func withoutRoomNothingIsSigned() throws {
        let pair = try SigningPair()
        pair.peer.link.isHeld = true
        var isTaken = true
        var count = 0
        while isTaken {
            isTaken = try pair.client.writeSigned([1], to: pair.open)
            count += isTaken ? 1 : 0
        }
        #expect(count == ATTBearer.maximumQueuedPDUs)
        #expect(pair.managers[0].keys?.localSignCounter == UInt32(count))
        var rooms = 0
        pair.client.bearer.onCommandRoom = { rooms += 1 }
        pair.peer.link.isHeld = false
        pair.fixture.loop.run(for: .seconds(1))
        #expect(rooms == 1)
        #expect(pair.app.writes.count == count)
    }
}
