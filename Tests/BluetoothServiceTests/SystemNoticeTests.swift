import Foundation
import SMP
import Testing

@testable import BluetoothService

@Suite struct SystemNoticeTests {
    private static let failures = (UInt8.min...20).map { PairingFailure(rawValue: $0) }

    /// Every failure names the device and suggests one action.
    @Test func aPairingThatFailedNamesTheDeviceAndSaysWhatToDo() {
        let errors =
            Self.failures.flatMap { [PairingError.refused($0), .refusedByPeer($0)] } + [.encryptionFailed, .linkLost]
        for error in errors {
            let text = "\(SystemNotice.pairingFailed(peer: "\"Sensor\"", error))"
            #expect(text.hasPrefix("pairing with \"Sensor\" failed: \(error); "))
            #expect(error.advice?.isEmpty == false)
        }
        let text = "\(SystemNotice.pairingFailed(peer: "C0:00:00:00:00:01", .timedOut))"
        #expect(text.hasPrefix("pairing with C0:00:00:00:00:01 failed: "))
        #expect(text.hasSuffix("reconnect to try again"))
    }

    @Test func theAdviceFollowsFromTheCause() {
        #expect(PairingError.refusedByPeer(.confirmValueFailed).advice?.contains("code") == true)
        #expect(PairingError.refused(.repeatedAttempts).advice?.contains("wait") == true)
        #expect(PairingError.refusedByPeer(.pairingNotSupported).advice?.contains("pairing mode") == true)
        #expect(PairingError.linkLost.advice?.contains("close") == true)
    }
}
