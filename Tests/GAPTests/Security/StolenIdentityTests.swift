import BluetoothTypes
import Cryptography
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Attackers that present another device's identity as their own, between complete devices.
@Suite struct StolenIdentityTests {
    /// The attacked device, a friend that it is to be bonded with, and an attacker that knows the identities of both.
    private final class Scene {
        let world: GAPWorld
        let defender: SecureDevice
        let friend: SecureDevice
        let attacker: SecureDevice
        let role: LERole

        /// - Parameter role: The defender's role.
        init(_ role: LERole) throws {
            let world = GAPWorld()
            let slip = Person.Slip(loop: world.loop)
            func device() throws -> SecureDevice { try SecureDevice(world, slip: slip, address: .resolvablePrivate) }
            (self.world, self.role) = (world, role)
            (defender, friend, attacker) = (try device(), try device(), try device())
        }

        func pair(with other: SecureDevice) -> SecurePair {
            role == .central
                ? SecurePair(world, central: defender, peripheral: other)
                : SecurePair(world, central: other, peripheral: defender)
        }

        /// Connects, lets the central secure the link, and disconnects. Returns the result.
        func meet(_ other: SecureDevice) throws -> Result<Void, SecurityError>? {
            let pair = pair(with: other)
            try pair.connect()
            let result = try pair.secure(.central)
            if other.link != nil { pair.disconnect() }
            world.run(.seconds(60))
            return result
        }

        /// Lets the attacker pair under its own addresses and claim this identity address and key.
        func attack(address: BluetoothAddress? = nil, key: Key128) throws {
            let own = attacker.bonds.identity
            attacker.deviceSecurity.identity = LocalIdentity(address: address ?? own.address, key: key)
            #expect(try meet(attacker)?.isSuccess == (role == .peripheral), "a central is notified afterwards")
        }
    }

    private static let roles = [LERole.central, .peripheral]

    @Test("AB-S10, AB-S11: a device that claims the resolving key of a bonded peer gets no bond", arguments: roles)
    func stolenResolvingKeysGetNoBond(role: LERole) throws {
        let scene = try Scene(role)
        #expect(try scene.meet(scene.friend)?.isSuccess == true)
        let bonds = scene.defender.bonds.bonds
        #expect(bonds.map(\.keys.identityKey) == [scene.friend.bonds.identity.key])
        try scene.attack(key: scene.friend.bonds.identity.key)
        #expect(scene.defender.bonds.bonds.map(\.keys) == bonds.map(\.keys))
        #expect(scene.defender.failures.last == .keysRefused)
        // The friend still has its identity, and no user is asked.
        scene.defender.person.forget()
        #expect(try scene.meet(scene.friend)?.isSuccess == true)
        #expect(scene.defender.person.prompts.isEmpty)
        #expect(scene.defender.bonds.bonds.map(\.keys) == bonds.map(\.keys))
    }

    @Test("AB-S10: a device that claims the identity address of a bonded peer gets no bond", arguments: roles)
    func stolenIdentityAddressesGetNoBond(role: LERole) throws {
        let scene = try Scene(role)
        #expect(try scene.meet(scene.friend)?.isSuccess == true)
        let bonds = scene.defender.bonds.bonds
        try scene.attack(address: scene.friend.bonds.identity.address, key: scene.attacker.bonds.identity.key)
        #expect(scene.defender.bonds.bonds.map(\.keys) == bonds.map(\.keys))
        #expect(scene.defender.failures.last == .keysRefused)
    }

    /// The attacker comes first, which cannot be detected then; the friend is not mistaken for it, and the user can
    /// resolve the conflict.
    @Test(
        "AB-S11: a device that took over a stranger's resolving key is found out when the stranger pairs",
        arguments: roles
    )
    func aTakenResolvingKeyIsFoundOutWhenItsOwnerComes(role: LERole) throws {
        let scene = try Scene(role)
        let key = scene.friend.bonds.identity.key
        scene.attacker.deviceSecurity.identity = LocalIdentity(address: scene.attacker.bonds.identity.address, key: key)
        #expect(try scene.meet(scene.attacker)?.isSuccess == true)
        let taken = try #require(scene.defender.bonds.bonds.first)
        // The friend's addresses now resolve to the attacker, whose key the friend does not have.
        #expect(try scene.meet(scene.friend)?.isSuccess == false)
        #expect(scene.defender.bonds.bonds.map(\.keys) == [taken.keys] && scene.defender.bonds.bonds[0].isLost)
        #expect(scene.defender.lostBonds > 0)
        try scene.defender.deviceSecurity.forget(taken.identifier)
        #expect(try scene.meet(scene.friend)?.isSuccess == true)
        #expect(scene.defender.bonds.bonds.map(\.address) == [scene.friend.bonds.identity.address])
    }

    @Test("AB-S11: a device that claims our own identity is rejected at once", arguments: roles)
    func ownIdentitiesAreRejectedAtOnce(role: LERole) throws {
        let scene = try Scene(role)
        let own = scene.defender.bonds.identity
        let attacker = scene.attacker.bonds.identity
        // The attacker does not request the identity key: it has it already, and would itself reject it.
        scene.attacker.deviceSecurity.configuration.wantedKeys.remove(.identity)
        let stolen = [
            LocalIdentity(address: attacker.address, key: own.key),
            LocalIdentity(address: own.address, key: attacker.key),
        ]
        for (round, identity) in stolen.enumerated() {
            scene.attacker.deviceSecurity.identity = identity
            _ = try scene.meet(scene.attacker)
            #expect(scene.defender.failures.count { $0 == .pairing(.refused(.keyRejected)) } == round + 1)
            #expect(scene.defender.bonds.bonds.isEmpty)
            #expect(scene.defender.paired.isEmpty)
            // The attacker received everything it wanted, and may consider itself bonded.
            for bond in scene.attacker.bonds.bonds { try scene.attacker.deviceSecurity.forget(bond.identifier) }
        }
    }
}
