import BluetoothTypes
import Cryptography
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// A stranger that pairs properly and then distributes the identity of a device the victim is bonded with
/// (CVE-2021-3436).
@Suite struct IdentityTheftTests {
    /// The thief's knowledge beyond its own keys.
    enum Thief: CaseIterable {
        /// The victim's peer's identity address, which is public knowledge.
        case knowsTheAddress
        /// The peer's identity resolving key as well: the victim resolves the thief's private address to the peer.
        case knowsTheKey
        /// A bond of its own with the victim.
        case isBonded
    }

    /// A victim bonded with an honest peer, and a thief.
    private struct Theft {
        let honest: SecurePair
        let attack: SecurePair
        let role: LERole
        let bond: Bond
        let key: Key128
        /// The identity that the victim attributes to the thief, if the victim connects.
        let known: BluetoothAddress?

        init(_ role: LERole, _ kind: Thief) throws {
            self.role = role
            let world = GAPWorld()
            let slip = Person.Slip(loop: world.loop)
            let configuration = PairingConfiguration()
            // The honest peer uses private addresses, so that it has a key to steal.
            let honestKey = Key128(Block128(high: 5, low: 6))
            let victim = try SecureDevice(world, slip: slip, pairing: configuration)
            let peer = try SecureDevice(
                world,
                slip: slip,
                pairing: configuration,
                address: .fixed(Self.address(honestKey, 1))
            )
            peer.deviceSecurity.identity = LocalIdentity(address: Self.identity, key: honestKey)
            let isCentral = role == .central
            honest = SecurePair(world, central: isCentral ? victim : peer, peripheral: isCentral ? peer : victim)
            try honest.bond(.authenticated)
            honest.disconnect()
            bond = try #require(victim.bonds.bond(identity: Self.identity))
            key = kind == .knowsTheKey ? honestKey : Key128(Block128(high: 7, low: 8))
            let address = Self.address(key, 2)
            let taken = kind == .knowsTheKey ? Self.identity : kind == .isBonded ? Self.other : nil
            known = role == .central ? taken : nil
            let thief = try SecureDevice(world, slip: slip, pairing: configuration, address: .fixed(address))
            attack = SecurePair(world, central: isCentral ? victim : thief, peripheral: isCentral ? thief : victim)
            if kind == .isBonded {
                thief.deviceSecurity.identity = LocalIdentity(address: Self.other, key: key)
                try attack.connect()
                #expect(try attack.secure(.central, .authenticated)?.isSuccess == true)
                #expect(victim.bonds.bonds.count == 2)
                attack.disconnect()
                // A central begins the next pairing itself; for a peripheral, the thief has to be unbonded.
                if isCentral { try thief.deviceSecurity.forget(try #require(thief.bonds.bonds.first).identifier) }
            }
            thief.deviceSecurity.identity = LocalIdentity(address: Self.identity, key: key)
            for device in [victim, peer, thief] { device.person.forget() }
        }

        static let identity = BluetoothAddress(0xC0DE_C0DE_C0DE, kind: .randomDevice)
        static let other = BluetoothAddress(0xC0DE_C0DE_0BAD, kind: .randomDevice)

        /// A private address that `key` resolves.
        static func address(_ key: Key128, _ number: UInt32) -> BluetoothAddress {
            let part = 0x40_0000 | number
            return BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(key, part)), kind: .randomDevice)
        }

        var victim: SecureDevice { honest.device(role) }
        var other: LERole { role == .central ? .peripheral : .central }
    }

    @Test(
        "AB-S10: no device can take over the identity of a bonded peer",
        arguments: [LERole.central, .peripheral],
        Thief.allCases
    )
    func bondedIdentitiesCannotBeTakenOver(role: LERole, kind: Thief) throws {
        for beginner in [LERole.central, .peripheral] {
            let theft = try Theft(role, kind)
            let before = theft.victim.bonds.bonds.map(\.keys)
            let paired = theft.victim.paired.count
            try theft.attack.connect(to: theft.known)
            _ = try? theft.attack.secure(beginner, .authenticated)
            if kind == .isBonded, role == .peripheral { theft.attack.central.link?.secureLink.pair { _ in } }
            theft.attack.world.run(.seconds(10))
            // The bond is unchanged, and there is no other one.
            #expect(theft.victim.bonds.bonds.map(\.keys) == before)
            #expect(theft.victim.bonds.bond(identity: Theft.identity)?.keys == theft.bond.keys)
            #expect(theft.victim.paired.count == paired, "\(beginner)")
            // A thief that got as far as distributing its keys has lost its link; any other link is not encrypted.
            if kind == .knowsTheAddress || kind == .isBonded && role == .peripheral {
                #expect(theft.victim.failures.last == .keysRefused)
                #expect(theft.victim.link == nil)
            }
            #expect(theft.victim.link?.secureLink.linkSecurity.isEncrypted != true)
            if theft.attack.device(theft.other).link != nil {
                #expect(try theft.attack.read(.encrypted, by: theft.other)?.isSuccess != true)
            }
            if theft.attack.device(theft.other).link != nil { theft.attack.disconnect() }
            // The honest peer is served as before, and no user is asked.
            for device in [theft.honest.central, theft.honest.peripheral] { device.person.forget() }
            theft.attack.world.run(.seconds(600))
            try theft.honest.connect(to: role == .central ? Theft.identity : nil)
            #expect(try theft.honest.secure(.central, .authenticated)?.isSuccess == true)
            #expect(theft.victim.person.prompts.isEmpty)
            #expect(try theft.honest.read(.authenticated, by: theft.other)?.isSuccess == true)
        }
    }
}
