import ATT
import BluetoothTypes
import Bonds
import EventLoops
import GATT
import HCI
import L2CAP
import SMP
import Testing

@testable import GAP
@testable import Security

/// Credit-based channels that ask for security, between two whole devices (Core Vol 3 Part C 10.3.1).
@Suite struct SecureChannelTests {
    private static let spsm = SPSM(rawValue: 0x80)

    /// Opens a channel from the central, and says why not.
    private func open(_ isEnhanced: Bool, _ pair: SecurePair) throws -> ChannelOpenError? {
        let l2cap = try #require(pair.central.link).l2cap
        var outcome: Result<Void, ChannelOpenError>?
        if isEnhanced {
            l2cap.openEnhancedChannels(1, on: Self.spsm) { outcome = $0.map { _ in } }
        } else {
            l2cap.openChannel(on: Self.spsm) { outcome = $0.map { _ in } }
        }
        pair.world.run(for: .seconds(40)) { outcome != nil }
        pair.world.run(.milliseconds(200))
        return try #require(outcome).error
    }

    private func listen(_ pair: SecurePair, _ requirement: SecurityLevel) throws {
        _ = try pair.peripheral.device.access.channels.listen(on: Self.spsm, requirement: requirement)
    }

    private func authentication(_ isEnhanced: Bool) throws {
        var weak = PairingConfiguration()
        weak.ioCapability = .noInputNoOutput
        let pair = try SecurePair(central: weak)
        try listen(pair, SecurityLevel.authenticated.with(keySize: 16))
        try pair.connect()
        #expect(try open(isEnhanced, pair) == .refused(.insufficientAuthentication))
        // Just Works does not help; a better key does.
        #expect(try #require(try pair.secure(.central)).isSuccess)
        #expect(try open(isEnhanced, pair) == .refused(.insufficientAuthentication))
        pair.central.security.configuration = PairingConfiguration()
        #expect(try #require(try pair.secure(.central, .authenticated)).isSuccess)
        #expect(try open(isEnhanced, pair) == nil)
    }

    private func encryption(_ isEnhanced: Bool) throws {
        let pair = try SecurePair()
        try listen(pair, SecurityLevel.encrypted.with(keySize: 16))
        try pair.bond()
        #expect(try open(isEnhanced, pair) == nil)
        pair.disconnect()
        pair.central.security.policy.encryptsBondedPeers = false
        try pair.connect()
        #expect(try open(isEnhanced, pair) == .refused(.insufficientEncryption))
        #expect(try #require(try pair.secure(.central)).isSuccess)
        #expect(try open(isEnhanced, pair) == nil)
    }

    private func keySize(_ isEnhanced: Bool) throws {
        var short = PairingConfiguration()
        short.minimumKeySize = 7
        short.maximumKeySize = 10
        var lax = PairingConfiguration()
        lax.minimumKeySize = 7
        let pair = try SecurePair(central: short, peripheral: lax)
        try listen(pair, SecurityLevel.encrypted.with(keySize: 11))
        try pair.bond()
        #expect(try open(isEnhanced, pair) == .refused(.encryptionKeySizeTooShort))
    }

    @Test func L2CAP_LE_CFC_BV_10_BV_11_insufficientAuthentication() throws { try authentication(false) }
    @Test func L2CAP_LE_CFC_BV_24_BV_25_insufficientEncryption() throws { try encryption(false) }
    @Test func L2CAP_LE_CFC_BV_14_BV_15_keyTooShort() throws { try keySize(false) }
    @Test func L2CAP_ECFC_BV_10_BV_11_insufficientAuthentication() throws { try authentication(true) }
    @Test func L2CAP_ECFC_BV_31_BV_32_insufficientEncryption() throws { try encryption(true) }
    @Test func L2CAP_ECFC_BV_14_BV_15_keyTooShort() throws { try keySize(true) }
}
