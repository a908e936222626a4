import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// LE security mode 1 and Secure Connections Only mode (Core Vol 3 Part C 10.2, 10.3), between two complete devices.
/// The role is that of the device under test.
@Suite struct SecurityModeTests {
    /// The configuration of a device for a level of mode 1 with LE Secure Connections only.
    private static func configuration(level: Int) -> PairingConfiguration {
        var configuration = PairingConfiguration.secureConnectionsOnly
        guard level == 2 else { return configuration }
        configuration.requiresProtection = false
        configuration.wantsProtection = false
        configuration.ioCapability = .noInputNoOutput
        return configuration
    }

    private static func requirement(level: Int) -> SecurityLevel {
        level == 2 ? .encrypted : level == 3 ? .authenticated : .secureConnections
    }

    private static func wanted(level: Int) -> SecurityLevel {
        level == 2 ? .encrypted : level == 3 ? .authenticated : .secureConnections
    }

    private static func other(_ role: LERole) -> LERole { role == .central ? .peripheral : .central }

    private func expectLevel(_ level: Int, _ pair: SecurePair) throws {
        for device in [pair.central, pair.peripheral] {
            let security = try #require(device.link).secureLink.linkSecurity
            #expect(security.isEncrypted)
            #expect(security.isSecureConnections)
            #expect(security.encryption?.keySize == 16)
            #expect(security.isAuthenticated == (level > 2))
        }
    }

    /// The device secures the link, and then uses a service of the peer.
    private func outgoing(_ role: LERole, level: Int) throws {
        let configuration = Self.configuration(level: level)
        let pair = try SecurePair(
            central: role == .central ? configuration : PairingConfiguration(),
            peripheral: role == .peripheral ? configuration : PairingConfiguration()
        )
        try pair.connect()
        #expect(try #require(try pair.secure(role, Self.wanted(level: level))).isSuccess)
        try expectLevel(level, pair)
        #expect(try pair.read(Self.requirement(level: level), by: role)?.isSuccess == true)
    }

    /// The peer pairs, and then uses a service of the device.
    private func incoming(_ role: LERole, level: Int) throws {
        let configuration = Self.configuration(level: level)
        let pair = try SecurePair(
            central: role == .central ? configuration : PairingConfiguration(),
            peripheral: role == .peripheral ? configuration : PairingConfiguration()
        )
        try pair.connect()
        let other = Self.other(role)
        #expect(try pair.read(Self.requirement(level: level), by: other)?.refusal == .insufficientAuthentication)
        #expect(try #require(try pair.secure(other, Self.wanted(level: level))).isSuccess)
        try expectLevel(level, pair)
        #expect(try pair.read(Self.requirement(level: level), by: other)?.isSuccess == true)
    }

    @Test("GAP/SEC/SEM/BV-21: a peripheral reaches level 4")
    func aPeripheralReachesLevel4() throws { try outgoing(.peripheral, level: 4) }

    @Test("GAP/SEC/SEM/BV-37: a peripheral reaches level 2 by Secure Connections")
    func aPeripheralReachesLevel2BySecureConnections() throws {
        try outgoing(.peripheral, level: 2)
    }

    @Test("GAP/SEC/SEM/BV-38: a peripheral reaches level 3 by Secure Connections")
    func aPeripheralReachesLevel3BySecureConnections() throws {
        try outgoing(.peripheral, level: 3)
    }

    @Test("GAP/SEC/SEM/BV-22: a peripheral is brought to level 4")
    func aPeripheralIsBroughtToLevel4() throws { try incoming(.peripheral, level: 4) }

    @Test("GAP/SEC/SEM/BV-39: a peripheral is brought to level 2 by Secure Connections")
    func aPeripheralIsBroughtToLevel2BySecureConnections() throws {
        try incoming(.peripheral, level: 2)
    }

    @Test("GAP/SEC/SEM/BV-40: a peripheral is brought to level 3 by Secure Connections")
    func aPeripheralIsBroughtToLevel3BySecureConnections() throws {
        try incoming(.peripheral, level: 3)
    }

    @Test("GAP/SEC/SEM/BV-26: a central reaches level 4")
    func aCentralReachesLevel4() throws { try outgoing(.central, level: 4) }

    @Test("GAP/SEC/SEM/BV-41: a central reaches level 2 by Secure Connections")
    func aCentralReachesLevel2BySecureConnections() throws { try outgoing(.central, level: 2) }

    @Test("GAP/SEC/SEM/BV-42: a central reaches level 3 by Secure Connections")
    func aCentralReachesLevel3BySecureConnections() throws { try outgoing(.central, level: 3) }

    @Test("GAP/SEC/SEM/BV-27: a central is brought to level 4")
    func aCentralIsBroughtToLevel4() throws { try incoming(.central, level: 4) }

    @Test("GAP/SEC/SEM/BV-43: a central is brought to level 2 by Secure Connections")
    func aCentralIsBroughtToLevel2BySecureConnections() throws {
        try incoming(.central, level: 2)
    }

    @Test("GAP/SEC/SEM/BV-44: a central is brought to level 3 by Secure Connections")
    func aCentralIsBroughtToLevel3BySecureConnections() throws {
        try incoming(.central, level: 3)
    }

    // MARK: A peer without LE Secure Connections

    /// The device in Secure Connections Only mode, and a peer that supports legacy pairing only.
    private func pairWithLegacyPeer(_ role: LERole, level: Int) throws -> SecurePair {
        var legacy = PairingConfiguration()
        legacy.legacy = .only
        let configuration = Self.configuration(level: level)
        let pair = try SecurePair(
            central: role == .central ? configuration : legacy,
            peripheral: role == .peripheral ? configuration : legacy
        )
        try pair.connect()
        return pair
    }

    private func expectNoKeys(_ pair: SecurePair) throws {
        for device in [pair.central, pair.peripheral] {
            #expect(device.bonds.bonds.isEmpty)
            #expect(device.link?.secureLink.linkSecurity.isEncrypted == false)
        }
    }

    private func failedOutgoing(_ role: LERole) throws {
        for level in 2...4 {
            let pair = try pairWithLegacyPeer(role, level: level)
            let result = try pair.secure(role, Self.wanted(level: level))
            #expect(result?.error == .pairing(.refused(.authenticationRequirements)))
            let told = pair.device(Self.other(role)).failures
            #expect(told == [.pairing(.refusedByPeer(.authenticationRequirements))])
            try expectNoKeys(pair)
        }
    }

    private func failedIncoming(_ role: LERole) throws {
        for level in 2...4 {
            let pair = try pairWithLegacyPeer(role, level: level)
            let other = Self.other(role)
            let requirement = Self.requirement(level: level)
            #expect(try pair.read(requirement, by: other)?.refusal == .insufficientAuthentication)
            let result = try pair.secure(other, .authenticated)
            #expect(result?.isSuccess == false)
            #expect(pair.device(role).failures == [.pairing(.refused(.authenticationRequirements))])
            #expect(try pair.read(requirement, by: other)?.refusal == .insufficientAuthentication)
            try expectNoKeys(pair)
        }
    }

    @Test("GAP/SEC/SEM/BV-23: a peripheral does not begin legacy pairing where level 4 is required")
    func aPeripheralDoesNotPairByLegacy() throws { try failedOutgoing(.peripheral) }

    @Test("GAP/SEC/SEM/BV-24: a peripheral does not accept legacy pairing where level 4 is required")
    func aPeripheralIsNotPairedByLegacy() throws { try failedIncoming(.peripheral) }

    @Test("GAP/SEC/SEM/BV-28: a central does not begin legacy pairing where level 4 is required")
    func aCentralDoesNotPairByLegacy() throws { try failedOutgoing(.central) }

    @Test("GAP/SEC/SEM/BV-29: a central does not accept legacy pairing where level 4 is required")
    func aCentralIsNotPairedByLegacy() throws { try failedIncoming(.central) }

    // MARK: Short keys

    /// The peer offers keys of 7 to 15 octets.
    private func shortKeys(_ role: LERole, level: Int) throws {
        for size in 7...15 {
            var weak = PairingConfiguration()
            weak.minimumKeySize = 7
            weak.maximumKeySize = size
            let configuration = Self.configuration(level: level)
            let pair = try SecurePair(
                central: role == .central ? configuration : weak,
                peripheral: role == .peripheral ? configuration : weak
            )
            try pair.connect()
            _ = try pair.secure(.central, SecurityLevel.encrypted)
            #expect(pair.device(role).failures == [.pairing(.refused(.encryptionKeySize))], "\(size)")
            let told = pair.device(Self.other(role)).failures
            #expect(told == [.pairing(.refusedByPeer(.encryptionKeySize))], "\(size)")
            try expectNoKeys(pair)
        }
    }

    @Test("GAP/SEC/SEM/BI-09: a peripheral refuses short keys at level 4")
    func aPeripheralRefusesShortKeysAtLevel4() throws { try shortKeys(.peripheral, level: 4) }

    @Test("GAP/SEC/SEM/BI-20: a peripheral refuses short keys at level 3")
    func aPeripheralRefusesShortKeysAtLevel3() throws { try shortKeys(.peripheral, level: 3) }

    @Test("GAP/SEC/SEM/BI-21: a peripheral refuses short keys at level 2")
    func aPeripheralRefusesShortKeysAtLevel2() throws { try shortKeys(.peripheral, level: 2) }

    @Test("GAP/SEC/SEM/BI-10: a central refuses short keys at level 4")
    func aCentralRefusesShortKeysAtLevel4() throws { try shortKeys(.central, level: 4) }

    @Test("GAP/SEC/SEM/BI-22: a central refuses short keys at level 3")
    func aCentralRefusesShortKeysAtLevel3() throws { try shortKeys(.central, level: 3) }

    @Test("GAP/SEC/SEM/BI-23: a central refuses short keys at level 2")
    func aCentralRefusesShortKeysAtLevel2() throws { try shortKeys(.central, level: 2) }

    // MARK: Encryption failures

    @Test("GAP/SEC/SEM/BV-45: a connection whose encryption fails is not used in the clear")
    func aConnectionWhoseEncryptionFailsIsNotUsedInTheClear() throws {
        let pair = try SecurePair(central: .secureConnectionsOnly).bonded(.secureConnections)
        let lost = try #require(pair.peripheral.bonds.bonds.first)
        try pair.peripheral.deviceSecurity.forget(lost.identifier)
        try pair.connect()
        pair.central.securesByItself()
        // The request fails, and no new pairing happens.
        #expect(try pair.read(.secureConnections, by: .central)?.isSuccess == false)
        #expect(try pair.read(.none, by: .central)?.isSuccess == false)
        #expect(pair.central.lostBonds > 0)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.central.link?.secureLink.linkSecurity.isEncrypted == false)
        // Alternatively, the user agrees to pair anew.
        pair.disconnect()
        pair.central.deviceSecurity.policy.lostBonds = .asked
        try pair.connect()
        pair.central.securesByItself()
        #expect(try pair.read(.secureConnections, by: .central)?.isSuccess == true)
        #expect(pair.central.person.prompts.first == .confirmReplacement)
        try expectLevel(4, pair)
    }
}
