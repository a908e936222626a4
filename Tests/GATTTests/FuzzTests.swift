import ATT
import BluetoothTypes
import EventLoops
import GATT
import LoopbackLinks
import Testing

/// Octets that look like the protocol but are not: whatever arrives, nothing traps, and every promise holds.
@Suite struct FuzzTests {
    static let opcodes: [UInt8] = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12,
        0x13, 0x16, 0x17, 0x18, 0x19, 0x1B, 0x1D, 0x1E, 0x20, 0x21, 0x23, 0x52, 0xD2, 0x7F, 0xFF,
    ]

    /// A PDU with a known opcode and small handles, of any length, the rest being noise.
    private static func pdu(_ random: RandomSource) -> [UInt8] {
        let length = Int(random.below(random.below(4) == 0 ? 517 : 24))
        var octets = random.bytes(length)
        for index in octets.indices where index % 2 == 0 && random.below(3) > 0 { octets[index] = 0 }
        for index in octets.indices where index % 2 == 1 && random.below(2) > 0 {
            octets[index] = UInt8(random.below(40))
        }
        if octets.count >= 2, random.below(2) > 0 {
            octets[0] = UInt8(random.below(40))
            octets[1] = 0
        }
        return [opcodes[Int(random.below(UInt64(opcodes.count)))]] + octets
    }

    @Test("AB-A05: a server that receives noise answers every request once, within the MTU", arguments: 0..<40)
    func aServerUnderNoise(seed: Int) throws {
        let random = RandomSource(seed: UInt64(seed))
        let client = try ServerFixture().bareClient()
        client.session.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        for _ in 0..<500 {
            let octets = Self.pdu(random)
            client.fixture.app.isSlow = random.below(8) == 0
            client.peer.inject(octets, on: 4)
            let app = client.fixture.app
            var answers = client.sent()
            while let request = app.reads.popLast() { app.answer(request) }
            while let request = app.writes.popLast() { app.answer(request) }
            answers += client.sent()
            #expect(answers.allSatisfy { $0.count <= client.session.bearer.mtu }, "seed \(seed): \(octets)")
            // Subscribed values are not sent spontaneously here, so everything that is sent is an answer.
            let kind = ATTOpcode(rawValue: octets[0]).kind
            let expected = kind == .request || kind == .indication && octets.count >= 3 ? 1 : 0
            #expect(answers.count == expected, "seed \(seed): \(octets)")
        }
        #expect(client.fixture.server.sessions.count == 1)
    }

    @Test("AB-A08: a client that receives noise ends every procedure", arguments: 0..<40)
    func aClientUnderNoise(seed: Int) {
        let random = RandomSource(seed: UInt64(seed) | 1 << 32)
        let server = ScriptedServer { request in
            guard random.below(16) > 0 else { return [0x01, request[0], 0, 0, UInt8(random.below(24))] }
            return [request[0] &+ 1] + Self.pdu(random).dropFirst().prefix(22)
        }
        var started = 0
        var ended = 0
        func end<T>(_: Result<T, GATTError>) { ended += 1 }
        let service = DiscoveredService(handles: 1...40, uuid: 0x180D)
        let characteristic = DiscoveredCharacteristic(
            declaration: 1,
            value: 2,
            end: 30,
            properties: .notify,
            uuid: 0x2A37
        )
        for _ in 0..<20 {
            started += 9
            server.client.discoverServices { end($0) }
            server.client.discoverServices(0x180D) { end($0) }
            server.client.discoverIncludedServices(of: service) { end($0) }
            server.client.discoverCharacteristics(of: service) { end($0) }
            server.client.discoverDescriptors(of: characteristic) { end($0) }
            server.client.read(3) { end($0) }
            server.client.readValues(of: 0x2A00) { end($0) }
            server.client.setNotifying(true, characteristic) { end($0) }
            server.client.writeReliably([(3, PacketBuffer(random.bytes(60)))]) { end($0) }
        }
        server.loop.run(for: .seconds(3600))
        #expect(ended == started, "seed \(seed)")
    }

    /// Links that become secure, or fail to, and lose it again: every procedure ends exactly once.
    @Test("AB-A10: a client whose link is secured intermittently ends every procedure once", arguments: 0..<40)
    func aClientWhoseLinkIsSecuredNowAndThen(seed: Int) throws {
        let random = RandomSource(seed: UInt64(seed) | 3 << 32)
        let fixture = try ServerFixture()
        let peer = fixture.client(mtu: 64)
        peer.addBearer(on: 0x40, mtu: 64)
        let become = {
            let isEncrypted = random.below(2) == 0
            let security = LinkSecurity(
                isEncrypted: isEncrypted,
                isAuthenticated: isEncrypted && random.below(2) == 0,
                hasKey: isEncrypted || random.below(2) == 0
            )
            peer.client.security = security
            peer.session.security = security
        }
        peer.client.onInsufficientSecurity = { _, retry in
            let delay = Duration.milliseconds(Int(random.below(3000)))
            guard delay > .seconds(1) else { return retry(random.below(2) == 0 ? .secured : .untried) }
            _ = fixture.loop.schedule(after: delay) {
                become()
                for _ in 0..<2 { retry(random.below(4) > 0 ? .secured : .untried) }
            }
        }
        var started = 0
        var ended = 0
        for _ in 0..<200 {
            started += 1
            let handle = UInt16([14, 28, 31, 33, 99][Int(random.below(5))])
            switch random.below(4) {
            case 0: peer.client.read(handle) { _ in ended += 1 }
            case 1:
                peer.client.write(PacketBuffer(random.bytes(Int(random.below(150)))), to: handle) { _ in ended += 1 }
            case 2: peer.client.readMultiple([14, handle]) { _ in ended += 1 }
            default: peer.client.readDatabaseHash { _ in ended += 1 }
            }
            if random.below(4) == 0 { become() }
            if random.below(8) == 0 { _ = fixture.server.update([1], of: ServerFixture.measurement) }
            fixture.loop.run(for: .milliseconds(Int(random.below(500))))
        }
        if seed % 2 == 0 { peer.disconnect() }
        fixture.loop.run(for: .seconds(60))
        #expect(ended == started, "seed \(seed)")
    }

    @Test("AB-C01: a link that received noise still accepts a whole PDU afterwards", arguments: 0..<40)
    func aLinkUnderNoise(seed: Int) throws {
        let random = RandomSource(seed: UInt64(seed) | 2 << 32)
        let client = try ServerFixture().bareClient()
        var pending: [UInt8] = []
        for _ in 0..<500 {
            if pending.isEmpty {
                let payload = Self.pdu(random)
                let channel: UInt8 = random.below(4) > 0 ? 4 : UInt8(random.below(8))
                let lie = random.below(8) == 0 ? random.below(65536) : UInt64(payload.count)
                pending = [UInt8(truncatingIfNeeded: lie), UInt8(truncatingIfNeeded: lie >> 8), channel, 0] + payload
            }
            let count = min(pending.count, 1 + Int(random.below(60)))
            client.link.onReceive?(PacketBuffer(Array(pending[..<count])), random.below(4) > 0)
            pending.removeFirst(random.below(16) == 0 ? pending.count : count)
            client.fixture.loop.run(for: .milliseconds(Int(random.below(2000))))
        }
        // A valid PDU after all that is understood.
        _ = client.sent()
        client.agree(23)
        #expect(client.exchange([0x0A, 14, 0]) == [0x0B, 0x64], "seed \(seed)")
    }
}
