import SMP
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct TrustErrorTests {
    @Test(arguments: [
        (SecurityError.peerLostKey, ServiceError.CoreCode.peerRemovedPairingInformation),
        (.encryptionTimedOut, .encryptionTimedOut), (.encryptionFailed, .connectionFailed),
    ])
    func behaviour_6_12_behaviour_6_13_aLinkThatCannotBeSecuredHasAReason(
        error: SecurityError,
        code: ServiceError.CoreCode
    ) {
        let shown = ServiceError(error)
        #expect(shown.code == .core(code))
        #expect(shown.reason != nil)
    }
}
