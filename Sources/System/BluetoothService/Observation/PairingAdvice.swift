import SMP

extension SystemNotice {
    /// The notice of a pairing that failed, with the advice to the user.
    static func pairingFailed(peer: String, _ error: PairingError) -> SystemNotice {
        .pairingFailed(peer: peer, reason: "\(error)\(error.advice.map { "; \($0)" } ?? "")")
    }
}

extension PairingError {
    /// The advice to the user about the error, or nil if the error itself states it.
    package var advice: String? {
        switch self {
        case .refused(let failure), .refusedByPeer(let failure): failure.advice
        case .timedOut: nil
        case .encryptionFailed: "try again"
        case .linkLost: "bring the two devices close to each other and try again"
        }
    }
}

extension PairingFailure {
    fileprivate var advice: String {
        switch self {
        case .passkeyEntryFailed: "try again, and enter the code that is shown"
        case .confirmValueFailed, .dhKeyCheckFailed:
            "the code or the out-of-band data did not match the other device; try again with the code it shows then"
        case .numericComparisonFailed:
            "try again; if the numbers differ every time, another device intercepts the connection"
        case .outOfBandNotAvailable: "transfer the out-of-band data again, and retry"
        case .authenticationRequirements:
            "one of the two devices has to require less security, or be able to display or enter a code"
        case .pairingNotSupported: "put the other device into its pairing mode, if it has one"
        case .encryptionKeySize: "the other device only supports short keys; check for an update of its firmware"
        case .repeatedAttempts: "wait before you try again, longer after each failure"
        case .busy: "try again in a moment"
        case .pairingOnOtherTransport: "wait until the pairing over BR/EDR is done"
        default: "try again; if that does not help, restart the other device and have it forget this one"
        }
    }
}
