import ATT
import BluetoothTypes
import Cryptography
import EventLoops
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Peers that withhold something, break off, or share the air with an attacker, between two complete devices.
@Suite struct HostilePeerTests {
    // MARK: Forgotten bonds

    @Test(
        "a peer that withholds the end of encryption until the bond is forgotten gains nothing",
        arguments: [LERole.central, .peripheral]
    )
    func withheldEncryptionGainsNothing(role: LERole) throws {
        let pair = try SecurePair().bonded(.authenticated)
        let victim = pair.device(role)
        let bond = try #require(victim.bonds.bonds.first)
        victim.device.gate.holds = { $0.isEncryptionChange }
        try pair.connect()
        let link = try #require(victim.link).secureLink
        #expect(!link.linkSecurity.isEncrypted)
        #expect(link.linkSecurity.hasKey)
        let before = victim.securities.count
        try victim.deviceSecurity.forget(bond.identifier)
        victim.device.gate.release()
        #expect(link.manager.encryption == nil)
        pair.world.run(for: .seconds(5)) { victim.link == nil }
        #expect(victim.link == nil)
        #expect(victim.bonds.bonds.isEmpty)
        #expect(victim.securities.dropFirst(before).allSatisfy { !$0.isEncrypted })
        #expect(victim.failures.last == .forgotten)
        // The peers are strangers now, and no caller is left waiting.
        #expect(victim.deviceSecurity.mayPair(with: bond.address))
        #expect(victim.deviceSecurity.mayPair(with: bond.address, isStranger: true))
    }

    @Test(arguments: [LERole.central, .peripheral])
    func bondsForgottenDuringPairingAreNotKept(role: LERole) throws {
        let pair = try SecurePair()
        try pair.bond()
        let victim = pair.device(role)
        victim.person.decide = { _ in nil }
        let bond = try #require(victim.bonds.bonds.first)
        var result: Result<Void, SecurityError>?
        try #require(pair.central.link).secureLink.pair { result = $0 }
        pair.world.run { !victim.person.prompts.isEmpty }
        #expect(victim.person.closed.isEmpty)
        try victim.deviceSecurity.forget(bond.identifier)
        #expect(victim.person.closed.count == 1)
        #expect(victim.link?.secureLink.linkSecurity.isEncrypted == false)
        pair.world.run(for: .seconds(5)) { victim.link == nil && result != nil }
        #expect(victim.link == nil)
        #expect(victim.bonds.bonds.isEmpty)
        #expect(result?.error == (role == .central ? .forgotten : .linkLost))
    }

    @Test("AB-S14: a peer whose bond is evicted from a full store loses its link")
    func evictedPeersLoseTheirLink() throws {
        let world = GAPWorld()
        let slip = Person.Slip(loop: world.loop)
        var simple = PairingConfiguration()
        simple.ioCapability = .noInputNoOutput
        let server = try SecureDevice(world, slip: slip, pairing: simple, capacity: 1)
        let clients = try (0..<2).map { _ in try SecureDevice(world, slip: slip, pairing: simple) }
        var links: [AccessLink] = []
        for client in clients {
            client.connect(to: server)
            links.append(try #require(server.link))
            var isSecured = false
            try #require(client.link).secureLink.secure(.encrypted) { isSecured = $0.isSuccess }
            world.run { isSecured }
            world.run(.seconds(1))
        }
        #expect(server.bonds.bonds.map(\.address) == [clients[1].device.address])
        world.run(.seconds(1))
        #expect(clients[0].link == nil && clients[1].link != nil)
        #expect(!links[0].secureLink.linkSecurity.isEncrypted && links[1].secureLink.linkSecurity.isEncrypted)
        #expect(links[0].secureLink.manager.longTermKey(random: 0, diversifier: 0) == nil)
    }

    // MARK: Pairings that break off

    /// How the peer misbehaves with its keys.
    enum Trick: CaseIterable {
        case fails
        case isSilent
        case givesWhatWasNotAgreed
    }

    @Test(
        "a peer that breaks off the pairing on the encrypted link is served nothing more",
        arguments: [LERole.central, .peripheral],
        Trick.allCases
    )
    func brokenOffPairingsEndService(role: LERole, trick: Trick) throws {
        let pair = try SecurePair()
        let victim = pair.device(role)
        let peer = pair.device(role == .central ? .peripheral : .central)
        peer.device.gate.change = { packet in
            // Identity Information and Identity Address Information.
            guard let code = packet.securityCommand?.first, code == 0x08 || code == 0x09 else { return packet }
            guard code == 0x08 else { return nil }
            switch trick {
            case .fails: return packet.replacingSecurityCommand([0x05, 0x08])
            case .isSilent: return nil
            case .givesWhatWasNotAgreed:
                return packet.replacingSecurityCommand([0x0A] + [UInt8](repeating: 1, count: 16))
            }
        }
        try pair.connect()
        let link = try #require(victim.link)
        let peerAddress = peer.device.address
        var result: Result<Void, SecurityError>?
        try #require(pair.central.link).secureLink.secure(.authenticated) { result = $0 }
        pair.world.run { victim.securities.last?.isEncrypted == true }
        #expect(link.secureLink.linkSecurity.isAuthenticated)
        // It counts as a failure of the peer (AB-S12).
        pair.world.run(for: .seconds(40)) { !victim.failures.isEmpty }
        #expect(!victim.deviceSecurity.mayPair(with: peerAddress, isStranger: role == .peripheral))
        let failed = pair.world.loop.now
        pair.world.run(for: .seconds(5)) { victim.link == nil }
        #expect(victim.link == nil)
        #expect(victim.bonds.bonds.isEmpty)
        #expect(victim.paired.isEmpty)
        #expect(pair.world.loop.now - failed < .milliseconds(500))
        #expect(victim.securities.last?.isEncrypted == false)
        #expect(victim.failures.count == 1)
        pair.world.run(.milliseconds(100))
        #expect(role == .peripheral || result?.error != nil)
    }

    // MARK: Injection on an unencrypted link

    @Test(
        "AB-S09: a forged Pairing Request does not keep a bonded central from its device",
        arguments: [SecurityPolicy.LostBonds.refused, .asked]
    )
    func aForgedPairingRequestDoesNotKeepTheBondedCentralOut(policy: SecurityPolicy.LostBonds) throws {
        let pair = try SecurePair().bonded(.authenticated)
        let keys = pair.peripheral.bonds.bonds.map(\.keys)
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        pair.peripheral.deviceSecurity.policy.lostBonds = policy
        pair.peripheral.person.decide = { _ in nil }
        try pair.connect()
        let link = try #require(pair.peripheral.link)
        pair.peripheral.device.gate.inject([0x01, 4, 0, 0x0D, 16, 3, 3], on: 6, of: link.connection)
        pair.world.run(.milliseconds(100))
        #expect(pair.peripheral.person.prompts == (policy == .asked ? [.confirmReplacement] : []))
        // While the user hesitates, the real central connects.
        #expect(try pair.secure(.central)?.isSuccess == true)
        #expect(pair.peripheral.link?.secureLink.linkSecurity.isAuthenticated == true)
        #expect(pair.peripheral.person.closed.count == pair.peripheral.person.prompts.count)
        for device in [pair.central, pair.peripheral] {
            #expect(device.bonds.bonds.count == 1)
            #expect(device.bonds.bonds.first?.isLost == false)
        }
        #expect(pair.peripheral.bonds.bonds.map(\.keys) == keys)
        #expect(pair.central.failures.isEmpty)
        pair.world.run(.seconds(40))
        #expect(pair.peripheral.link?.secureLink.linkSecurity.isAuthenticated == true)
        if policy == .asked {
            #expect(pair.peripheral.failures.isEmpty)
            let central = pair.central.device.address
            #expect(pair.peripheral.deviceSecurity.mayPair(with: central))
            #expect(pair.peripheral.deviceSecurity.mayPair(with: central, isStranger: true))
        }
    }

    // MARK: Pairings that cannot succeed

    /// Why a device cannot authenticate.
    enum Poverty: CaseIterable {
        case noInputNoOutput
        case nobodyThere
    }

    @Test(arguments: [LERole.central, .peripheral], Poverty.allCases)
    func aValueThatThisDeviceCannotGetAuthenticatedCostsNoLink(role: LERole, poverty: Poverty) throws {
        var simple = PairingConfiguration()
        simple.ioCapability = .noInputNoOutput
        let poor = poverty == .noInputNoOutput ? simple : PairingConfiguration()
        let pair = try SecurePair(
            central: role == .central ? poor : simple,
            peripheral: role == .peripheral ? poor : simple
        )
        try pair.bond()
        let (device, other) = (pair.device(role), pair.device(role == .central ? .peripheral : .central))
        // The other device's capabilities do not help.
        other.deviceSecurity.configuration = PairingConfiguration()
        if poverty == .nobodyThere { device.deviceSecurity.prompter = nil }
        device.securesByItself()
        var commands: [[UInt8]] = []
        for end in [device, other] {
            end.device.gate.change = { packet in
                if let command = packet.securityCommand { commands.append(command) }
                return packet
            }
        }
        #expect(try pair.read(.authenticated, by: role)?.refusal == .insufficientAuthentication)
        let link = try #require(device.link).secureLink
        let missing: PairingObstacle = poverty == .noInputNoOutput ? .noInputNoOutput : .noPrompter
        #expect(try pair.secure(role, .authenticated)?.error == .cannotPair(missing))
        // No pairing command is sent, and everything else goes on.
        #expect(commands.isEmpty)
        #expect(device.failures.isEmpty)
        #expect(other.failures.isEmpty)
        #expect(link.linkSecurity.isEncrypted)
        #expect(other.person.prompts.isEmpty)
        #expect(try pair.read(.encrypted, by: role)?.isSuccess == true)
    }

    @Test("AB-A10: nothing is requested from a device with the address of a weakly bonded peer")
    func weakBondsAreNotQueried() throws {
        var legacy = PairingConfiguration()
        legacy.legacy = .only
        let pair = try SecurePair(peripheral: legacy).bonded(.authenticated)
        // The mode was set after bonding, and another device is at the peer's address.
        pair.central.deviceSecurity.configuration = .secureConnectionsOnly
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        try pair.connect()
        #expect(pair.central.link?.secureLink.linkSecurity.hasKey == true)
        var requests = 0
        pair.central.device.gate.change = { packet in
            if packet.kind == .acl, packet.bytes.count > 8, packet.bytes[6] == 4 { requests += 1 }
            return packet
        }
        #expect(try pair.read(.none, by: .central)?.isSuccess != true)
        #expect(requests == 0)
    }

    // MARK: Out-of-band data

    @Test(arguments: [LERole.central, .peripheral])
    func ownOutOfBandDataAreUsedOnce(role: LERole) throws {
        let pair = try SecurePair()
        let (device, other) = (pair.device(role), pair.device(role == .central ? .peripheral : .central))
        let own = try #require(OwnOutOfBandData(random: RandomSource(seed: 9)))
        device.deviceSecurity.offerOutOfBand(own)
        var shown: [[UInt8]] = []
        device.device.gate.change = { packet in
            if let command = packet.securityCommand, command.first == 0x0C { shown.append(command) }
            return packet
        }
        // A stranger without the data does not get the key that belongs to them.
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == true)
        #expect(device.deviceSecurity.ownOutOfBand != nil)
        pair.disconnect()
        for end in [pair.central, pair.peripheral] {
            try end.deviceSecurity.forget(try #require(end.bonds.bonds.first).identifier)
        }
        // A peer with the data gets it once, and no peer after that.
        other.deviceSecurity.expectOutOfBand(own.shared)
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == true)
        #expect(device.deviceSecurity.ownOutOfBand == nil)
        pair.disconnect()
        for end in [pair.central, pair.peripheral] {
            try end.deviceSecurity.forget(try #require(end.bonds.bonds.first).identifier)
        }
        other.deviceSecurity.expectOutOfBand(own.shared)
        try pair.connect()
        _ = try pair.secure(.central)
        let keys = shown.map { Array($0[1...32].reversed()) }
        let belongs = Array(own.keyPair.publicKey.x)
        #expect(keys.count == 3)
        #expect(keys.map { $0 == belongs } == [false, true, false])
    }
}
