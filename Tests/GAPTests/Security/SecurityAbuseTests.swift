import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Peers that attempt more than they are entitled to, between two complete devices.
@Suite struct SecurityAbuseTests {
    private static var unauthenticated: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .noInputNoOutput
        return configuration
    }

    private static var legacy: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.legacy = .only
        return configuration
    }

    @Test("AB-S06: legacy Just Works gives no authenticated level")
    func legacyJustWorksIsNotAuthenticated() throws {
        var weak = Self.legacy
        weak.ioCapability = .noInputNoOutput
        let pair = try SecurePair(central: weak)
        try pair.connect()
        // The peripheral's service requires an authenticated key, and gets what the central supports.
        _ = try pair.secure(.peripheral, .authenticated)
        let bond = try #require(pair.peripheral.bonds.bonds.first)
        #expect(!bond.keys.level.isAuthenticated)
        #expect(!bond.keys.level.isSecureConnections)
        #expect(try pair.read(.encrypted, by: .central)?.isSuccess == true)
        for requirement in [SecurityLevel.authenticated, .secureConnections] {
            #expect(try pair.read(requirement, by: .central)?.refusal == .insufficientAuthentication)
        }
    }

    @Test(
        "AB-S07: Secure Connections Only refuses legacy pairing and old bonds",
        arguments: [LERole.central, .peripheral]
    )
    func secureConnectionsOnlyRefusesLegacyAndOldBonds(role: LERole) throws {
        let other: LERole = role == .central ? .peripheral : .central
        // An old bond from legacy pairing, made before the mode was enabled.
        let pair = try SecurePair(
            central: role == .central ? PairingConfiguration() : Self.legacy,
            peripheral: role == .peripheral ? PairingConfiguration() : Self.legacy
        )
        try pair.bond(.authenticated)
        #expect(try pair.read(.authenticated, by: other)?.isSuccess == true)
        pair.device(role).deviceSecurity.configuration = .secureConnectionsOnly
        #expect(try pair.read(.encrypted, by: other)?.refusal == .insufficientAuthentication)
        #expect(try pair.read(.none, by: other)?.isSuccess == true)
        // The peer supports nothing better.
        #expect(try pair.secure(role)?.isSuccess == false)
        #expect(try pair.read(.encrypted, by: other)?.refusal == .insufficientAuthentication)
        let bond = try #require(pair.device(role).bonds.bonds.first)
        #expect(!bond.keys.level.isSecureConnections)
    }

    @Test("AB-S09: an impostor of a bonded peripheral does not get the bond")
    func anImpostorOfABondedPeripheralDoesNotGetTheBond() throws {
        let pair = try SecurePair().bonded(.authenticated)
        let bond = try #require(pair.central.bonds.bonds.first)
        // The attacker has the address but not the key, and requests a weaker pairing.
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        pair.peripheral.deviceSecurity.configuration = Self.unauthenticated
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        try pair.connect()
        #expect(try pair.secure(.peripheral)?.isSuccess == false)
        #expect(pair.central.bonds.bonds.first?.keys == bond.keys)
        #expect(pair.central.bonds.bonds.first?.isLost == true)
        #expect(pair.central.lostBonds == 1)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.peripheral.bonds.bonds.isEmpty)
        #expect(pair.central.link?.secureLink.linkSecurity.isEncrypted == false)
    }

    @Test("AB-S09: an impostor of a bonded central does not get the bond")
    func anImpostorOfABondedCentralDoesNotGetTheBond() throws {
        let pair = try SecurePair().bonded(.authenticated)
        let bond = try #require(pair.peripheral.bonds.bonds.first)
        try pair.central.deviceSecurity.forget(try #require(pair.central.bonds.bonds.first).identifier)
        for policy in [SecurityPolicy.LostBonds.refused, .asked] {
            // Even with the user's consent, a weaker key does not replace it (AB-S10).
            if policy == .asked { pair.central.deviceSecurity.configuration = Self.unauthenticated }
            pair.peripheral.deviceSecurity.policy.lostBonds = policy
            try pair.connect()
            #expect(try pair.secure(.central)?.isSuccess == false)
            #expect(pair.peripheral.bonds.bonds.first?.keys == bond.keys)
            #expect(pair.central.bonds.bonds.isEmpty)
            pair.disconnect()
            pair.world.run(.seconds(60))
        }
        #expect(pair.peripheral.lostBonds == 1)
        #expect(pair.peripheral.person.prompts.isEmpty)
    }

    @Test(
        "AB-S12: a peer whose pairing failed has to wait on the next link too",
        arguments: [LERole.central, .peripheral]
    )
    func backOffAppliesToTheNextLink(role: LERole) throws {
        let pair = try SecurePair()
        let device = pair.device(role)
        device.person.decide = { _ in .refuse }
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == false)
        let asked = device.person.prompts.count
        #expect(asked == 1)
        for wait in [1, 2, 4] {
            pair.disconnect()
            try pair.connect()
            // With the central's own back-off cleared, the device itself refuses.
            pair.device(role == .central ? .peripheral : .central).deviceSecurity.resetBackOff()
            let before = device.person.prompts.count
            if wait > 1 {
                _ = try pair.secure(.central)
                #expect(device.person.prompts.count == before)
            }
            pair.world.run(.seconds(wait))
            pair.device(role == .central ? .peripheral : .central).deviceSecurity.resetBackOff()
            _ = try pair.secure(.central)
            #expect(device.person.prompts.count == before + 1)
        }
        pair.world.run(.seconds(300))
        device.person.decide = { _ in .accept }
        pair.central.deviceSecurity.resetBackOff()
        #expect(try pair.secure(.central)?.isSuccess == true)
    }

    /// An attacker need not complete a wrong guess: dropping the link in the middle of a pairing counts as a failure
    /// too.
    @Test(
        "AB-S12: a peer that leaves in the middle of a pairing has to wait too",
        arguments: [LERole.central, .peripheral]
    )
    func abortedPairingsBackOff(role: LERole) throws {
        let pair = try SecurePair()
        let (device, other) = (pair.device(role), pair.device(role == .central ? .peripheral : .central))
        device.person.decide = { _ in nil }
        for attempt in 1...5 {
            try pair.connect()
            pair.central.link?.secureLink.secure(.encrypted) { _ in }
            pair.world.run(for: .seconds(20)) { device.person.prompts.count == attempt }
            #expect(device.person.prompts.count == attempt)
            other.link?.terminate()
            pair.world.run { device.link == nil && other.link == nil }
            // After five failures the wait is 16 seconds, and connecting takes two.
            if attempt < 5 { pair.world.run(.seconds(20)) }
        }
        try pair.connect()
        other.deviceSecurity.resetBackOff()
        #expect(try pair.secure(.central)?.isSuccess == false)
        #expect(device.person.prompts.count == 5)
        pair.world.run(.seconds(20))
        other.deviceSecurity.resetBackOff()
        device.person.decide = { _ in .accept }
        #expect(try pair.secure(.central)?.isSuccess == true)
    }

    /// A peer that wants to pair anew has to prove the bond's key first, also when nothing else is requested.
    @Test("AB-S09: a requested pairing begins with the bond's key")
    func aPairingThatIsAskedForBeginsWithTheKey() throws {
        let pair = try SecurePair().bonded(.authenticated)
        let bond = try #require(pair.central.bonds.bonds.first)
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        try pair.connect()
        var result: Result<Void, SecurityError>?
        pair.central.link?.secureLink.pair { result = $0 }
        pair.world.run(for: .seconds(60)) { result != nil }
        #expect(result?.error == .peerLostKey)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.peripheral.person.prompts.isEmpty)
        #expect(pair.central.bonds.bonds.first?.keys == bond.keys)
        #expect(pair.peripheral.bonds.bonds.isEmpty)
    }

    /// The user lets a lost bond be replaced, but the new one is no stronger than the old one: the requirement is not
    /// met.
    @Test("AB-S09: a replaced bond is not mistaken for a better one")
    func aBondThatWasReplacedIsNotTakenForABetterOne() throws {
        let pair = try SecurePair(peripheral: Self.unauthenticated).bonded()
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        pair.central.deviceSecurity.policy.lostBonds = .asked
        try pair.connect()
        #expect(try pair.secure(.central, .authenticated)?.error == .tooWeak)
        #expect(pair.central.person.prompts.contains(.confirmReplacement))
        #expect(pair.central.bonds.bonds.first?.keys.level.isAuthenticated == false)
        #expect(try pair.secure(.central)?.isSuccess == true)
    }

    @Test("AB-A13: protected values are refused with the error of the cause")
    func protectedValuesByCause() throws {
        // On a link without a pairing.
        let open = try SecurePair()
        try open.connect()
        for requirement in SecurityLevel.cases.dropFirst() {
            #expect(try open.read(requirement, by: .central)?.refusal == .insufficientAuthentication)
        }
        // Just Works where an authenticated key is required.
        let weak = try SecurePair(central: Self.unauthenticated)
        try weak.bond()
        #expect(try weak.read(.encrypted, by: .central)?.isSuccess == true)
        #expect(try weak.read(.authenticated, by: .central)?.refusal == .insufficientAuthentication)
        #expect(try weak.read(.secureConnections, by: .central)?.refusal == .insufficientAuthentication)
        // Legacy passkey pairing where Secure Connections is required.
        let old = try SecurePair(central: Self.legacy)
        try old.bond(.authenticated)
        #expect(try old.read(.authenticated, by: .central)?.isSuccess == true)
        #expect(try old.read(.secureConnections, by: .central)?.refusal == .insufficientAuthentication)
    }

    @Test("AB-A13: short keys protect nothing", arguments: 7...15)
    func shortKeysProtectNothing(size: Int) throws {
        var short = PairingConfiguration()
        short.minimumKeySize = 7
        short.maximumKeySize = size
        var lax = PairingConfiguration()
        lax.minimumKeySize = 7
        let pair = try SecurePair(central: short, peripheral: lax)
        try pair.bond()
        #expect(pair.peripheral.bonds.bonds.first?.keys.level.keySize == size)
        // A client without security requirements.
        pair.central.client?.security = LinkSecurity()
        for requirement in SecurityLevel.cases.dropFirst() {
            #expect(try pair.read(requirement, by: .central)?.refusal == .encryptionKeySizeTooShort)
        }
        #expect(try pair.read(.none, by: .central)?.isSuccess == true)
    }

    @Test("AB-A14: without a user to ask, no bond is made", arguments: [LERole.central, .peripheral])
    func withNobodyThereNoBondIsMade(role: LERole) throws {
        for configuration in [PairingConfiguration(), Self.unauthenticated] {
            let pair = try SecurePair(central: configuration, peripheral: configuration)
            pair.device(role).deviceSecurity.prompter = nil
            try pair.connect()
            #expect(try pair.secure(role == .central ? .peripheral : .central)?.isSuccess == false)
            #expect(pair.central.bonds.bonds.isEmpty)
            #expect(pair.peripheral.bonds.bonds.isEmpty)
        }
    }

    @Test("AB-A14: without a user, a bond is made if the policy needs no consent")
    func unlessThePolicySaysSo() throws {
        let pair = try SecurePair(peripheral: Self.unauthenticated)
        pair.peripheral.deviceSecurity.prompter = nil
        pair.peripheral.deviceSecurity.policy.asksConsent = false
        try pair.bond()
        #expect(pair.peripheral.person.prompts.isEmpty)
    }

    @Test("AB-G03: an address alone is not trusted")
    func anAddressIsNotTrusted() throws {
        let pair = try SecurePair().bonded(.authenticated)
        try pair.central.deviceSecurity.forget(try #require(pair.central.bonds.bonds.first).identifier)
        try pair.connect()
        // The server recognises the address of a bonded client, but does not trust it.
        let link = try #require(pair.peripheral.link).secureLink
        #expect(link.bond != nil)
        #expect(!link.linkSecurity.isEncrypted)
        for requirement in SecurityLevel.cases.dropFirst() {
            #expect(try pair.read(requirement, by: .central)?.refusal == .insufficientEncryption)
        }
        #expect(try pair.read(.none, by: .central)?.isSuccess == true)
    }
}
