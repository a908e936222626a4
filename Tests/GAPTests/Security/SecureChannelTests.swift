import BluetoothTypes
import HCI
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Credit-based channels that require security, between two complete devices (Core Vol 3 Part C 10.3.1).
@Suite struct SecureChannelTests {
    private static let spsm = SPSM(rawValue: 0x80)

    /// Opens a channel from the central and returns the error, if any.
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
        // Just Works does not suffice; a stronger key does.
        #expect(try #require(try pair.secure(.central)).isSuccess)
        #expect(try open(isEnhanced, pair) == .refused(.insufficientAuthentication))
        pair.central.deviceSecurity.configuration = PairingConfiguration()
        #expect(try #require(try pair.secure(.central, .authenticated)).isSuccess)
        #expect(try open(isEnhanced, pair) == nil)
    }

    private func encryption(_ isEnhanced: Bool) throws {
        let pair = try SecurePair()
        try listen(pair, SecurityLevel.encrypted.with(keySize: 16))
        try pair.bond()
        #expect(try open(isEnhanced, pair) == nil)
        pair.disconnect()
        pair.central.deviceSecurity.policy.encryptsBondedPeers = false
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

    @Test(
        "L2CAP/LE/CFC/BV-10, L2CAP/LE/CFC/BV-11: a credit-based channel is refused until the link has an authenticated key"
    )
    func authenticationForACreditBasedChannel() throws { try authentication(false) }

    @Test("L2CAP/LE/CFC/BV-24, L2CAP/LE/CFC/BV-25: a credit-based channel is refused until the link is encrypted")
    func encryptionForACreditBasedChannel() throws { try encryption(false) }

    @Test("L2CAP/LE/CFC/BV-14, L2CAP/LE/CFC/BV-15: a credit-based channel is refused with a key that is too short")
    func keySizeForACreditBasedChannel() throws { try keySize(false) }

    @Test("L2CAP/ECFC/BV-10, L2CAP/ECFC/BV-11: an enhanced channel is refused until the link has an authenticated key")
    func authenticationForAnEnhancedChannel() throws { try authentication(true) }

    @Test("L2CAP/ECFC/BV-31, L2CAP/ECFC/BV-32: an enhanced channel is refused until the link is encrypted")
    func encryptionForAnEnhancedChannel() throws { try encryption(true) }

    @Test("L2CAP/ECFC/BV-14, L2CAP/ECFC/BV-15: an enhanced channel is refused with a key that is too short")
    func keySizeForAnEnhancedChannel() throws { try keySize(true) }
}
