import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// The authentication procedure (Core Vol 3 Part C 10.3), between two complete devices. The role is that of the device
/// under test.
@Suite struct AuthenticationTests {
    private static var unauthenticated: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .noInputNoOutput
        return configuration
    }

    private static func other(_ role: LERole) -> LERole { role == .central ? .peripheral : .central }

    // MARK: The device as server

    /// A client without a bond is refused, pairs, and is served.
    private func pairsAfterRefusal(_ role: LERole) throws {
        let pair = try SecurePair()
        let other = Self.other(role)
        try pair.connect()
        #expect(try pair.read(.authenticated, by: other)?.refusal == .insufficientAuthentication)
        #expect(try #require(try pair.secure(other, .authenticated)).isSuccess)
        #expect(try pair.read(.authenticated, by: other)?.isSuccess == true)
        #expect(pair.device(role).bonds.bonds.count == 1)
    }

    @Test("GAP/SEC/AUT/BV-11: a peripheral refuses access and serves it after pairing")
    func aPeripheralRefusesAndServesAfterPairing() throws { try pairsAfterRefusal(.peripheral) }

    @Test("GAP/SEC/AUT/BV-12: a central refuses access and serves it after pairing")
    func aCentralRefusesAndServesAfterPairing() throws { try pairsAfterRefusal(.central) }

    /// A client with an unauthenticated bond is refused, pairs with authentication on the encrypted link, and is
    /// served.
    private func pairsBetter(_ role: LERole) throws {
        let other = Self.other(role)
        let pair = try SecurePair(
            central: other == .central ? Self.unauthenticated : PairingConfiguration(),
            peripheral: other == .peripheral ? Self.unauthenticated : PairingConfiguration()
        )
        try pair.bond()
        let before = try #require(pair.device(role).bonds.bonds.first)
        #expect(!before.keys.level.isAuthenticated)
        pair.disconnect()
        pair.device(other).deviceSecurity.configuration = PairingConfiguration()
        try pair.connect()
        #expect(try #require(try pair.secure(other)).isSuccess)
        #expect(try pair.read(.encrypted, by: other)?.isSuccess == true)
        #expect(try pair.read(.authenticated, by: other)?.refusal == .insufficientAuthentication)
        #expect(try #require(try pair.secure(other, .authenticated)).isSuccess)
        #expect(try pair.read(.authenticated, by: other)?.isSuccess == true)
        let after = try #require(pair.device(role).bonds.bonds.first)
        #expect(after.identifier == before.identifier)
        #expect(after.keys.level.isAuthenticated)
        // The peer had proved its identity.
        #expect(!pair.device(role).person.prompts.contains(.confirmReplacement))
    }

    @Test("GAP/SEC/AUT/BV-13: a central refuses access with an unauthenticated bond")
    func aCentralRefusesAnUnauthenticatedBond() throws { try pairsBetter(.central) }

    @Test("GAP/SEC/AUT/BV-14: a peripheral refuses access with an unauthenticated bond")
    func aPeripheralRefusesAnUnauthenticatedBond() throws { try pairsBetter(.peripheral) }

    /// A bonded client that has not encrypted is refused for that reason, and is served once it has.
    private func insufficientEncryption(_ role: LERole) throws {
        let pair = try SecurePair()
        let other = Self.other(role)
        try pair.bond(.authenticated)
        pair.disconnect()
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
        try pair.connect()
        // A client that does not require security of the peer.
        pair.device(other).client?.security = LinkSecurity()
        #expect(try pair.read(.none, by: other)?.isSuccess == true)
        #expect(try pair.read(.authenticated, by: other)?.refusal == .insufficientEncryption)
        #expect(try #require(try pair.secure(other)).isSuccess)
        #expect(try pair.read(.authenticated, by: other)?.isSuccess == true)
        #expect(pair.device(role).person.prompts.isEmpty)
    }

    @Test("GAP/SEC/AUT/BV-23: a peripheral refuses access until the link is encrypted")
    func aPeripheralRefusesUntilItIsEncrypted() throws {
        try insufficientEncryption(.peripheral)
    }

    @Test("GAP/SEC/AUT/BV-24: a central refuses access until the link is encrypted")
    func aCentralRefusesUntilItIsEncrypted() throws { try insufficientEncryption(.central) }

    // MARK: The device as client

    /// The device is refused, and the peer supports nothing better than Just Works.
    private func pairsWithWeakPeer(_ role: LERole) throws {
        for isMandated in [false, true] {
            var own = PairingConfiguration()
            own.requiresProtection = isMandated
            let pair = try SecurePair(
                central: role == .central ? own : Self.unauthenticated,
                peripheral: role == .peripheral ? own : Self.unauthenticated
            )
            try pair.connect()
            pair.device(role).securesByItself()
            let result = try #require(try pair.read(.encrypted, by: role))
            #expect(result.isSuccess == !isMandated)
            let security = try #require(pair.device(role).link).secureLink.linkSecurity
            #expect(security.isEncrypted == !isMandated)
            #expect(!security.isAuthenticated)
            if isMandated { #expect(result.refusal == .insufficientAuthentication) }
        }
    }

    @Test("GAP/SEC/AUT/BV-17: a central pairs at the best level that the peer supports")
    func aCentralPairsAsWellAsThePeerCan() throws { try pairsWithWeakPeer(.central) }

    @Test("GAP/SEC/AUT/BV-18: a peripheral pairs at the best level that the peer supports")
    func aPeripheralPairsAsWellAsThePeerCan() throws { try pairsWithWeakPeer(.peripheral) }

    /// A bonded pair whose peer has removed its bond.
    private func lostBond(_ role: LERole, _ policy: SecurityPolicy.LostBonds, automatic: Bool) throws -> SecurePair {
        let pair = try SecurePair().bonded(.authenticated)
        let peer = pair.device(Self.other(role))
        try peer.deviceSecurity.forget(try #require(peer.bonds.bonds.first).identifier)
        for device in [pair.central, pair.peripheral] {
            device.deviceSecurity.policy.lostBonds = policy
            device.deviceSecurity.policy.encryptsBondedPeers = automatic
        }
        try pair.connect()
        pair.device(role).securesByItself()
        return pair
    }

    /// The bond is tried first, and the user is asked before it is replaced.
    private func asksBeforePairing(_ role: LERole, automatic: Bool = false) throws {
        let pair = try lostBond(role, .asked, automatic: automatic)
        let device = pair.device(role)
        let before = try #require(device.bonds.bonds.first)
        #expect(try pair.read(.authenticated, by: role)?.isSuccess == true)
        #expect(device.lostBonds > 0)
        #expect(device.person.prompts.first == .confirmReplacement)
        let after = try #require(device.bonds.bonds.first)
        #expect(device.bonds.bonds.count == 1)
        #expect(after.identifier == before.identifier)
        #expect(!after.isLost)
        #expect(after.keys.localKey != before.keys.localKey)
    }

    /// The user declines: nothing is read, and the bond stays unchanged.
    private func staysWithTheBond(_ role: LERole) throws {
        let pair = try lostBond(role, .asked, automatic: false)
        let device = pair.device(role)
        let before = try #require(device.bonds.bonds.first)
        device.person.decide = { _ in .refuse }
        #expect(try pair.read(.authenticated, by: role)?.isSuccess == false)
        #expect(device.person.prompts == [.confirmReplacement])
        #expect(device.bonds.bonds.first?.keys == before.keys)
        #expect(device.bonds.bonds.first?.isLost == true)
        #expect(device.link?.secureLink.linkSecurity.isEncrypted == false)
    }

    @Test("GAP/SEC/AUT/BV-19: a central whose request is refused tries the bond first")
    func aCentralTriesTheBondFirst() throws { try asksBeforePairing(.central) }

    @Test("GAP/SEC/AUT/BV-20: a peripheral whose request is refused tries the bond first")
    func aPeripheralTriesTheBondFirst() throws { try asksBeforePairing(.peripheral) }

    @Test("GAP/SEC/AUT/BV-19: a central that encrypts automatically also asks before it pairs")
    func aCentralThatEncryptsAtOnceAsksToo() throws {
        try asksBeforePairing(.central, automatic: true)
    }

    @Test("GAP/SEC/AUT/BV-21: a central reports that the bond is lost")
    func aCentralTellsThatTheBondIsLost() throws {
        let pair = try lostBond(.central, .refused, automatic: false)
        #expect(try pair.secure(.central)?.error == .peerLostKey)
        #expect(pair.central.lostBonds == 1)
        #expect(pair.central.bonds.bonds.first?.isLost == true)
        #expect(pair.central.person.prompts.isEmpty)
        #expect(pair.peripheral.bonds.bonds.isEmpty)
    }

    @Test("GAP/SEC/AUT/BV-22: a peripheral reports that the bond is lost")
    func aPeripheralTellsThatTheBondIsLost() throws {
        let pair = try lostBond(.peripheral, .refused, automatic: false)
        #expect(try pair.secure(.peripheral)?.error == .peerLostKey)
        #expect(pair.peripheral.lostBonds == 1)
        #expect(pair.peripheral.bonds.bonds.first?.isLost == true)
        #expect(pair.peripheral.person.prompts.isEmpty)
        #expect(pair.central.bonds.bonds.isEmpty)
    }

    @Test("GAP/SEC/AUT/BV-25: a central asks before it pairs after an authentication error")
    func aCentralAsksBeforeItPairsAfterAnAuthenticationError() throws {
        try asksBeforePairing(.central)
        try staysWithTheBond(.central)
    }

    @Test("GAP/SEC/AUT/BV-26: a peripheral asks before it pairs after an authentication error")
    func aPeripheralAsksBeforeItPairsAfterAnAuthenticationError() throws {
        try asksBeforePairing(.peripheral)
        try staysWithTheBond(.peripheral)
    }

    /// The peer reports insufficient encryption as if it had a key, but has none.
    private func afterEncryptionError(_ role: LERole) throws {
        for agrees in [true, false] {
            let pair = try lostBond(role, .asked, automatic: false)
            let device = pair.device(role)
            let before = try #require(device.bonds.bonds.first)
            if !agrees { device.person.decide = { _ in .refuse } }
            device.client?.security = LinkSecurity()
            pair.device(Self.other(role)).session?.security = LinkSecurity(isEncrypted: false)
            var causes: [ATTErrorCode] = []
            let secure = try #require(device.client?.onInsufficientSecurity)
            device.client?.onInsufficientSecurity = { cause, retry in
                causes.append(cause)
                secure(cause, retry)
            }
            #expect(try pair.read(.authenticated, by: role)?.isSuccess == agrees)
            #expect(causes.first == .insufficientEncryption)
            #expect(device.person.prompts.first == .confirmReplacement)
            #expect((device.bonds.bonds.first?.keys == before.keys) == !agrees)
        }
    }

    @Test("GAP/SEC/AUT/BV-27: a central asks before it pairs after an encryption error")
    func aCentralAsksBeforeItPairsAfterAnEncryptionError() throws {
        try afterEncryptionError(.central)
    }

    @Test("GAP/SEC/AUT/BV-28: a peripheral asks before it pairs after an encryption error")
    func aPeripheralAsksBeforeItPairsAfterAnEncryptionError() throws {
        try afterEncryptionError(.peripheral)
    }
}
