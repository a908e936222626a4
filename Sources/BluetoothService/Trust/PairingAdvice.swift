import SMP

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
            "the code or the data were not those of the other device; try again with what it shows then"
        case .numericComparisonFailed: "try again; if the numbers differ each time, somebody is in the middle"
        case .outOfBandNotAvailable: "carry the data from device to device once more, and try again"
        case .authenticationRequirements:
            "one of the two devices has to ask for less, or to be able to show or take in a code"
        case .pairingNotSupported: "put the other device into its pairing mode, if it has one"
        case .encryptionKeySize: "the other device is too weak to be trusted, unless an update helps"
        case .repeatedAttempts: "wait before you try again, longer after each failure"
        case .busy: "try again in a moment"
        case .pairingOnOtherTransport: "wait until the pairing over BR/EDR is done"
        default: "try again; if that does not help, restart the other device and have it forget this one"
        }
    }
}
