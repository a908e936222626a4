import SMP
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct TrustErrorTests {
    @Test(
        "behaviours 6.12, 6.13: a link that cannot be secured is reported with its reason",
        arguments: [
            (SecurityError.peerLostKey, ServiceError.CoreCode.peerRemovedPairingInformation),
            (.encryptionTimedOut, .encryptionTimedOut), (.encryptionFailed, .connectionFailed),
        ]
    )
    func aLinkThatCannotBeSecuredHasAReason(error: SecurityError, code: ServiceError.CoreCode) {
        let shown = ServiceError(error)
        #expect(shown.code == .core(code))
        #expect(shown.reason != nil)
    }
}
