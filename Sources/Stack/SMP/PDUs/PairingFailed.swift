import BluetoothTypes

/// The reason why pairing failed (Core Vol 3 Part H 3.5.5).
package struct PairingFailure: WireValue, Error, CustomStringConvertible {
    package var rawValue: UInt8
    /// Creates a reason from any number, assigned or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user did not enter the passkey.
    package static let passkeyEntryFailed = PairingFailure(rawValue: 0x01)
    /// Out-of-band data is not available.
    package static let outOfBandNotAvailable = PairingFailure(rawValue: 0x02)
    /// The I/O capabilities of the two devices do not allow the required security.
    package static let authenticationRequirements = PairingFailure(rawValue: 0x03)
    /// A confirm value does not match.
    package static let confirmValueFailed = PairingFailure(rawValue: 0x04)
    /// The device does not support pairing.
    package static let pairingNotSupported = PairingFailure(rawValue: 0x05)
    /// The encryption key would be too short.
    package static let encryptionKeySize = PairingFailure(rawValue: 0x06)
    /// The command is unknown, or not allowed in this state.
    package static let commandNotSupported = PairingFailure(rawValue: 0x07)
    /// The reason has no number of its own.
    package static let unspecifiedReason = PairingFailure(rawValue: 0x08)
    /// Too little time has passed since a failed attempt.
    package static let repeatedAttempts = PairingFailure(rawValue: 0x09)
    /// A parameter has an invalid length or value.
    package static let invalidParameters = PairingFailure(rawValue: 0x0A)
    /// The DHKey check of LE Secure Connections does not match.
    package static let dhKeyCheckFailed = PairingFailure(rawValue: 0x0B)
    /// The user reported that the numbers differ.
    package static let numericComparisonFailed = PairingFailure(rawValue: 0x0C)
    /// Pairing over BR/EDR is in progress.
    package static let pairingOnOtherTransport = PairingFailure(rawValue: 0x0D)
    /// The keys must not be used to derive keys for the other transport.
    package static let crossTransportNotAllowed = PairingFailure(rawValue: 0x0E)
    /// A distributed key was rejected.
    package static let keyRejected = PairingFailure(rawValue: 0x0F)
    /// The device cannot pair at the moment.
    package static let busy = PairingFailure(rawValue: 0x10)

    /// The reason in words, for errors and logs.
    package var description: String {
        let texts = [
            "the passkey was not entered", "out-of-band data is missing", "the required security cannot be achieved",
            "a confirm value does not match", "pairing is not supported", "the key would be too short",
            "the command is not supported", "unspecified reason", "too soon after a failed attempt",
            "a parameter is invalid", "the DHKey check does not match", "the numbers differ",
            "pairing over BR/EDR is in progress", "cross-transport keys are not allowed", "a key was rejected", "busy",
        ]
        return (1...texts.count).contains(Int(rawValue)) ? texts[Int(rawValue) - 1] : "reason \(rawValue)"
    }
}

/// Pairing Failed (Core Vol 3 Part H 3.5.5).
package struct PairingFailed: SMPPacket {
    package static let code = SMPCode.pairingFailed
    /// The reason for the failure.
    package var reason = PairingFailure(rawValue: 0)
    package init() {}
    package init(_ reason: PairingFailure) { self.reason = reason }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
    }
}
