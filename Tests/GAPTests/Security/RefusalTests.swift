import ATT
import BluetoothTypes
import GATT
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// How the device reacts when the peer refuses a request (Core Vol 3 Part C 10.3.2, table 10.2).
@Suite struct RefusalTests {
    private func secure(_ pair: SecurePair, after refusal: ATTErrorCode) throws -> Bool? {
        let link = try #require(pair.central.link)
        var isSecured: Bool?
        link.secureLink.secure(after: refusal) { isSecured = $0 == .secured }
        pair.world.run(for: .seconds(60)) { isSecured != nil }
        pair.world.run(.milliseconds(500))
        return isSecured
    }

    private func level(_ pair: SecurePair) throws -> KeyLevel {
        try #require(pair.central.link?.secureLink.manager.encryption)
    }

    /// The peer does not indicate the required key strength: each attempt requests the next stronger key.
    @Test func insufficientAuthenticationAsksForTheNextBetterKey() throws {
        var configuration = PairingConfiguration()
        let capability = configuration.ioCapability
        (configuration.legacy, configuration.ioCapability) = (.only, .noInputNoOutput)
        let pair = try SecurePair(central: configuration)
        try pair.connect()
        // In the clear: any key.
        #expect(try secure(pair, after: .insufficientAuthentication) == true)
        #expect(try level(pair) == KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: false))
        // With an unauthenticated key: an authenticated one, which legacy pairing provides.
        configuration.ioCapability = capability
        pair.central.deviceSecurity.configuration = configuration
        #expect(try secure(pair, after: .insufficientAuthentication) == true)
        #expect(try level(pair) == KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: false))
        // With an authenticated key: LE Secure Connections, which are not available at first.
        #expect(try secure(pair, after: .insufficientAuthentication) == false)
        pair.world.run(.seconds(10))
        pair.central.deviceSecurity.configuration = PairingConfiguration()
        #expect(try secure(pair, after: .insufficientAuthentication) == true)
        #expect(try level(pair) == KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true))
    }

    @Test func insufficientEncryptionAsksForAnyKey() throws {
        var configuration = PairingConfiguration()
        configuration.ioCapability = .noInputNoOutput
        let pair = try SecurePair(central: configuration)
        try pair.connect()
        #expect(try secure(pair, after: .insufficientEncryption) == true)
        #expect(try !level(pair).isAuthenticated)
    }

    @Test(arguments: [ATTErrorCode.readNotPermitted, .invalidHandle, .insufficientAuthorization])
    func otherRefusalsNeedNothing(refusal: ATTErrorCode) throws {
        let pair = try SecurePair()
        try pair.connect()
        #expect(try secure(pair, after: refusal) == false)
        #expect(pair.central.link?.secureLink.linkSecurity.isEncrypted == false)
        #expect(pair.central.person.prompts.isEmpty)
    }
}
