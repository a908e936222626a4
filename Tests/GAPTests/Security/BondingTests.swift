import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Bondable and non-bondable mode (Core Vol 3 Part C 9.4), between two complete devices.
@Suite struct BondingTests {
    private static var unauthenticated: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .noInputNoOutput
        return configuration
    }

    private static var nonBondable: PairingConfiguration {
        var configuration = unauthenticated
        configuration.bonds = false
        return configuration
    }

    /// Pairs on two consecutive links; the non-bonding device pairs each time and stores nothing.
    private func expectNoBond(_ role: LERole, begunBy initiator: LERole, _ mode: ControllerMode) throws {
        let other = role == initiator ? role == .central ? LERole.peripheral : .central : initiator
        let pair = try SecurePair(
            mode,
            central: role == .central ? Self.nonBondable : Self.unauthenticated,
            peripheral: role == .peripheral ? Self.nonBondable : Self.unauthenticated
        )
        for round in 1...2 {
            try pair.connect()
            #expect(try #require(try pair.secure(initiator)).isSuccess)
            #expect(try pair.read(.encrypted, by: other)?.isSuccess == true)
            #expect(pair.device(role).paired.count == round)
            #expect(pair.device(role).paired.last == .some(nil))
            #expect(pair.device(role).person.prompts.filter { $0 == .confirmPairing }.count == round)
            #expect(pair.central.bonds.bonds.isEmpty)
            #expect(pair.peripheral.bonds.bonds.isEmpty)
            pair.disconnect()
        }
    }

    @Test(
        "GAP/BOND/NBON/BV-01: a central that is asked to pair without bonding stores nothing",
        arguments: ControllerMode.allCases
    )
    func aCentralThatIsAskedKeepsNothing(mode: ControllerMode) throws {
        try expectNoBond(.central, begunBy: .peripheral, mode)
    }

    @Test(
        "GAP/BOND/NBON/BV-02: a central that begins to pair without bonding stores nothing",
        arguments: ControllerMode.allCases
    )
    func aCentralThatBeginsKeepsNothing(mode: ControllerMode) throws {
        try expectNoBond(.central, begunBy: .central, mode)
    }

    @Test(
        "GAP/BOND/NBON/BV-03: a peripheral that is asked to pair without bonding stores nothing",
        arguments: ControllerMode.allCases
    )
    func aPeripheralThatIsAskedKeepsNothing(mode: ControllerMode) throws {
        try expectNoBond(.peripheral, begunBy: .central, mode)
    }

    /// Pairs once; the next link uses the key, and no user is asked.
    private func expectBond(_ role: LERole, begunBy initiator: LERole, _ mode: ControllerMode) throws {
        let pair = try SecurePair(mode)
        try pair.connect()
        #expect(try #require(try pair.secure(initiator)).isSuccess)
        let device = pair.device(role)
        let bond = try #require(device.bonds.bonds.first)
        #expect(device.paired == [bond])
        #expect(device.storage.state?.bonds.map(\.identifier) == [bond.identifier])
        let other = pair.device(role == .central ? .peripheral : .central)
        #expect(bond.address == other.device.address)
        #expect(bond.keys.identityKey == nil)
        pair.disconnect()
        device.person.forget()
        try pair.connect()
        // A central encrypts automatically (behaviour 6.11).
        #expect(try #require(device.link).secureLink.linkSecurity.isEncrypted)
        #expect(try #require(try pair.secure(initiator)).isSuccess)
        #expect(device.person.prompts.isEmpty)
        #expect(device.bonds.bonds.map(\.keys) == [bond.keys])
        #expect(try pair.read(.secureConnections, by: role)?.isSuccess == true)
    }

    @Test("GAP/BOND/BON/BV-01: a peripheral begins to bond and both store the bond", arguments: ControllerMode.allCases)
    func aPeripheralBeginsToBond(mode: ControllerMode) throws {
        try expectBond(.peripheral, begunBy: .peripheral, mode)
    }

    @Test("GAP/BOND/BON/BV-02: a central begins to bond and both store the bond", arguments: ControllerMode.allCases)
    func aCentralBeginsToBond(mode: ControllerMode) throws {
        try expectBond(.central, begunBy: .central, mode)
    }

    @Test("GAP/BOND/BON/BV-03: a peripheral that is asked to bond stores the bond", arguments: ControllerMode.allCases)
    func aPeripheralIsAskedToBond(mode: ControllerMode) throws {
        try expectBond(.peripheral, begunBy: .central, mode)
    }

    @Test("GAP/BOND/BON/BV-04: a central that is asked to bond stores the bond", arguments: ControllerMode.allCases)
    func aCentralIsAskedToBond(mode: ControllerMode) throws {
        try expectBond(.central, begunBy: .peripheral, mode)
    }

    /// A peer that requests bonding but neither accepts nor distributes a key for it does not prevent later pairings.
    @Test(
        "a peer that neither distributes nor accepts a long-term key is not bonded and may pair again",
        arguments: [LERole.central, .peripheral],
        [KeyKinds.identity, .signing, []]
    )
    func aPeerWithoutALongTermKeyIsNotBonded(miser: LERole, kinds: KeyKinds) throws {
        var stingy = Self.unauthenticated
        stingy.legacy = .only
        (stingy.givenKeys, stingy.wantedKeys) = (kinds, kinds)
        let pair = try SecurePair(
            central: miser == .central ? stingy : Self.unauthenticated,
            peripheral: miser == .peripheral ? stingy : Self.unauthenticated
        )
        for device in [pair.central, pair.peripheral] {
            device.deviceSecurity.configuration.givenKeys.insert(.signing)
            device.deviceSecurity.configuration.wantedKeys.insert(.signing)
        }
        for round in 1...2 {
            try pair.connect()
            #expect(try #require(try pair.secure(.central)).isSuccess)
            #expect(try pair.read(.encrypted, by: .central)?.isSuccess == true)
            for device in [pair.central, pair.peripheral] {
                #expect(device.bonds.bonds.isEmpty)
                #expect(device.paired == [Bond?](repeating: nil, count: round))
                #expect(!device.person.prompts.contains(.confirmReplacement))
            }
            pair.disconnect()
        }
        // When it pairs properly, it is not treated as a peer that has lost its key.
        pair.device(miser).deviceSecurity.configuration = Self.unauthenticated
        try pair.bond()
    }

    // MARK: Choice of bond

    @Test func theOwnersNameForThePeerIsTheBonds() throws {
        let pair = try SecurePair()
        try pair.connect()
        let link = try #require(pair.central.link).secureLink
        link.identifier = BondIdentifier(high: 1, low: 2)
        link.name = "Lamp"
        #expect(try #require(try pair.secure(.central)).isSuccess)
        let bond = try #require(pair.central.bonds.bonds.first)
        #expect(bond.identifier == BondIdentifier(high: 1, low: 2))
        #expect(bond.name == "Lamp")
        #expect(pair.central.person.peers.first?.name == "Lamp")
    }

    @Test("behaviour 6.14: a forgotten peer pairs anew where it kept its bond")
    func aForgottenPeerPairsAnewWhereItKeptItsBond() throws {
        let pair = try SecurePair()
        pair.peripheral.deviceSecurity.policy.lostBonds = .asked
        try pair.bond()
        pair.disconnect()
        try pair.central.deviceSecurity.forget(try #require(pair.central.bonds.bonds.first).identifier)
        try pair.connect()
        #expect(try #require(try pair.secure(.central)).isSuccess)
        #expect(pair.peripheral.person.prompts.first == .confirmReplacement)
        #expect(pair.peripheral.bonds.bonds.count == 1)
        #expect(pair.peripheral.bonds.bonds.first?.isLost == false)
        #expect(try pair.read(.secureConnections, by: .central)?.isSuccess == true)
    }

    @Test("behaviour 6.20: a peer that was reset is refused until it is forgotten")
    func aResetPeerIsRefusedUntilItIsForgotten() throws {
        let pair = try SecurePair().bonded(.authenticated)
        let bond = try #require(pair.central.bonds.bonds.first)
        // The same address, without the former bond.
        try pair.peripheral.deviceSecurity.forget(try #require(pair.peripheral.bonds.bonds.first).identifier)
        for _ in 0..<2 {
            try pair.connect()
            #expect(try pair.secure(.central)?.error == .peerLostKey)
            #expect(pair.central.bonds.bonds.map(\.keys) == [bond.keys])
            #expect(pair.peripheral.bonds.bonds.isEmpty)
            pair.disconnect()
        }
        try pair.central.deviceSecurity.forget(bond.identifier)
        try pair.connect()
        #expect(try pair.secure(.central)?.isSuccess == true)
        #expect(pair.central.bonds.bonds.count == 1)
        #expect(pair.central.bonds.bonds.first?.keys != bond.keys)
    }

    @Test func legacyPairingBondsToo() throws {
        var legacy = PairingConfiguration()
        legacy.legacy = .only
        let pair = try SecurePair(central: legacy)
        try pair.bond(.authenticated)
        let keys = try #require(pair.central.bonds.bonds.first).keys
        #expect(keys.level == KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false))
        pair.disconnect()
        try pair.connect()
        #expect(try #require(pair.central.link).secureLink.linkSecurity.isEncrypted)
        #expect(try pair.read(.authenticated, by: .central)?.isSuccess == true)
        #expect(try pair.read(.secureConnections, by: .central)?.refusal == .insufficientAuthentication)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.peripheral.person.prompts.isEmpty)
    }
}
