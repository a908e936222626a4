import ATT
import BluetoothTypes
import GATT
import HCI
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// A server whose app answers late, with an open value and one that requires encryption.
private final class SlowServer: GATTServerDelegate {
    let open: UInt16
    let protected: UInt16
    private(set) var reads: [GATTReadRequest] = []
    private(set) var writes: [GATTWriteRequest] = []

    init(_ device: SecureDevice) throws {
        let characteristics = [SecurityLevel.none, .encrypted].map {
            CharacteristicDefinition(
                0xF1F1,
                properties: [.read, .write, .writeWithoutResponse],
                permissions: AttributePermissions(read: $0, write: $0)
            )
        }
        let published = try device.server.database.add(ServiceDefinition(0xF1F0, characteristics: characteristics))
        open = published.characteristics[0].value
        protected = published.characteristics[1].value
        device.server.delegate = self
    }

    /// Answers the requests that the app has received.
    func answer() {
        for read in reads { read.respond(.success([1])) }
        reads = []
    }

    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) { reads.append(request) }

    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        writes.append(request)
        request.respond(nil)
    }
}

/// Data sent in the clear to a device whose link is encrypted before they are processed, between two complete devices.
@Suite struct LinkSecurityChangeTests {
    /// Connects with an unused bond from an earlier link, or without one, in which case the two pair.
    private func connect(isBonded: Bool) throws -> SecurePair {
        let pair = try SecurePair()
        for device in [pair.central, pair.peripheral] { device.deviceSecurity.policy.encryptsBondedPeers = false }
        if isBonded {
            try pair.bond()
            pair.disconnect()
        }
        try pair.connect()
        return pair
    }

    private func octets(_ opcode: UInt8, _ handle: UInt16, _ value: [UInt8] = []) -> PacketBuffer {
        PacketBuffer([opcode, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)] + value)
    }

    /// An injector reads the open value, and writes and reads the protected one; the real client encrypts; the app
    /// answers. Only the open value is served.
    @Test(
        "AB-L08, AB-A13: requests that wait for a slow app keep the rights with which they arrived",
        arguments: [LERole.central, .peripheral],
        [false, true]
    )
    func queuedRequestsKeepTheirRights(role: LERole, isBonded: Bool) throws {
        let pair = try connect(isBonded: isBonded)
        let client = pair.device(role)
        let app = try SlowServer(pair.device(role == .central ? .peripheral : .central))
        let l2cap = try #require(client.link).l2cap
        l2cap.send(octets(0x0A, app.open), on: .attribute)
        l2cap.send(octets(0x12, app.protected, [9]), on: .attribute)
        l2cap.send(octets(0x0A, app.protected), on: .attribute)
        pair.world.run { app.reads.count == 1 }
        pair.world.run(.milliseconds(200))
        #expect(try #require(try pair.secure(.central)).isSuccess)
        app.answer()
        pair.world.run(.milliseconds(500))
        #expect(app.reads.isEmpty)
        #expect(app.writes.isEmpty)
        // The real client is served.
        var result: Result<Void, GATTError>?
        try #require(client.client).write([8], to: app.protected) { result = $0 }
        pair.world.run { result != nil }
        #expect(result?.isSuccess == true && app.writes.map { $0.writes[0].value.bytes } == [[8]])
    }

    /// A write request and a write command that begin in the clear and end on the encrypted link.
    @Test(
        "AB-L08, AB-A13: a write that begins in the clear is refused on the encrypted link",
        arguments: [LERole.central, .peripheral],
        [0x12, 0x52] as [UInt8]
    )
    func aWriteThatBeginsInTheClear(role: LERole, opcode: UInt8) throws {
        for cut in [3, 4, 5, 7] {
            let pair = try connect(isBonded: true)
            let client = pair.device(role)
            let server = pair.device(role == .central ? .peripheral : .central)
            let app = try SlowServer(server)
            let tail = HeldTail(try #require(server.link).connection)
            tail.hold(after: cut)
            try #require(client.link).l2cap.send(octets(opcode, app.protected, [9]), on: .attribute)
            pair.world.run { tail.isHolding }
            #expect(tail.isHolding)
            // No other data reach the server while the link is encrypted with the existing key.
            #expect(try #require(try pair.secure(.central)).isSuccess)
            tail.release()
            pair.world.run(.milliseconds(500))
            #expect(app.writes.isEmpty, "cut at \(cut)")
            try #require(client.link).l2cap.send(octets(opcode, app.protected, [8]), on: .attribute)
            pair.world.run(.milliseconds(500))
            #expect(app.writes.count == 1, "cut at \(cut)")
        }
    }

    /// The other direction, from server to client.
    @Test(
        "AB-A09, AB-A10: a value that begins in the clear does not count as the bonded server's",
        arguments: [LERole.central, .peripheral],
        [0x1B, 0x1D] as [UInt8]
    )
    func aValueThatBeginsInTheClear(role: LERole, opcode: UInt8) throws {
        let pair = try connect(isBonded: true)
        let client = pair.device(role)
        let server = pair.device(role == .central ? .peripheral : .central)
        var values: [UInt8] = []
        try #require(client.client).onValue = { _, value, _ in values.append(value.first ?? 0) }
        let tail = HeldTail(try #require(client.link).connection)
        tail.hold(after: 6)
        try #require(server.link).l2cap.send(octets(opcode, 3, [9]), on: .attribute)
        pair.world.run { tail.isHolding }
        #expect(try #require(try pair.secure(.central)).isSuccess)
        tail.release()
        pair.world.run(.milliseconds(500))
        #expect(values.isEmpty)
        try #require(server.link).l2cap.send(octets(opcode, 3, [8]), on: .attribute)
        pair.world.run(.milliseconds(500))
        #expect(values == [8])
    }

    /// A channel that requires encryption, requested in the clear.
    @Test("AB-L08: a channel requested in the clear is not opened on the encrypted link")
    func aChannelThatIsAskedForInTheClear() throws {
        let pair = try connect(isBonded: true)
        let spsm = SPSM(rawValue: 0x80)
        let server = try pair.peripheral.device.access.channels.listen(
            on: spsm,
            requirement: SecurityLevel.encrypted.with(keySize: 16)
        )
        let tail = HeldTail(try #require(pair.peripheral.link).connection)
        tail.hold(after: 9)
        var outcome: Result<Void, ChannelOpenError>?
        try #require(pair.central.link).l2cap.openChannel(on: spsm) { outcome = $0.map { _ in } }
        pair.world.run { tail.isHolding }
        #expect(try #require(try pair.secure(.central)).isSuccess)
        tail.release()
        pair.world.run { outcome != nil }
        #expect(outcome?.error == .refused(.insufficientEncryption))
        #expect(server.channels.isEmpty)
    }

    @Test("AB-L08, AB-S09: a pairing requested in the clear does not begin on the encrypted link")
    func aPairingThatIsAskedForInTheClear() throws {
        let pair = try connect(isBonded: true)
        let tail = HeldTail(try #require(pair.peripheral.link).connection)
        tail.hold(after: 5)
        let keys = try #require(pair.peripheral.bonds.bonds.first).keys
        try #require(pair.central.link).l2cap.send([0x01, 0x03, 0, 0x09, 16, 0, 0], on: .securityManager)
        pair.world.run { tail.isHolding }
        #expect(try #require(try pair.secure(.central)).isSuccess)
        tail.release()
        pair.world.run(.seconds(2))
        #expect(pair.peripheral.person.prompts.isEmpty)
        #expect(pair.peripheral.failures.isEmpty)
        #expect(pair.peripheral.bonds.bonds.first?.keys == keys)
    }
}
