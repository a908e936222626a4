import BluetoothTypes

/// Why pairing failed (Core Vol 3 Part H 3.5.5).
package struct PairingFailure: WireValue, Error, CustomStringConvertible {
    package var rawValue: UInt8
    /// Any number, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The person did not enter the passkey.
    package static let passkeyEntryFailed = PairingFailure(rawValue: 0x01)
    /// Data from another way is not there.
    package static let outOfBandNotAvailable = PairingFailure(rawValue: 0x02)
    /// What is required cannot be had with what both devices can show and take.
    package static let authenticationRequirements = PairingFailure(rawValue: 0x03)
    /// A confirm value is not what it should be.
    package static let confirmValueFailed = PairingFailure(rawValue: 0x04)
    /// The device does not pair.
    package static let pairingNotSupported = PairingFailure(rawValue: 0x05)
    /// The key would be too short.
    package static let encryptionKeySize = PairingFailure(rawValue: 0x06)
    /// The command is unknown, or has no place here.
    package static let commandNotSupported = PairingFailure(rawValue: 0x07)
    /// For a reason that has no number.
    package static let unspecifiedReason = PairingFailure(rawValue: 0x08)
    /// Too soon after an attempt that failed.
    package static let repeatedAttempts = PairingFailure(rawValue: 0x09)
    /// A length or a value is wrong.
    package static let invalidParameters = PairingFailure(rawValue: 0x0A)
    /// The check of LE Secure Connections is wrong.
    package static let dhKeyCheckFailed = PairingFailure(rawValue: 0x0B)
    /// The person said that the numbers differ.
    package static let numericComparisonFailed = PairingFailure(rawValue: 0x0C)
    /// Pairing on the other transport is under way.
    package static let pairingOnOtherTransport = PairingFailure(rawValue: 0x0D)
    /// The keys must not be used on the other transport.
    package static let crossTransportNotAllowed = PairingFailure(rawValue: 0x0E)
    /// A key that was given is not accepted.
    package static let keyRejected = PairingFailure(rawValue: 0x0F)
    /// The device cannot pair now.
    package static let busy = PairingFailure(rawValue: 0x10)

    /// What happened, for a person.
    package var description: String {
        let texts = [
            "the passkey was not entered", "out-of-band data is missing", "the security that is required cannot be had",
            "a confirm value is wrong", "pairing is not supported", "the key would be too short",
            "the command is not supported", "for an unspecified reason", "too soon after a failed attempt",
            "a parameter is invalid", "the DHKey check is wrong", "the numbers differ",
            "pairing on BR/EDR is under way", "cross-transport keys are not allowed", "a key was rejected", "busy",
        ]
        return (1...texts.count).contains(Int(rawValue)) ? texts[Int(rawValue) - 1] : "reason \(rawValue)"
    }
}

/// Pairing Failed (Core Vol 3 Part H 3.5.5).
package struct PairingFailed: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingFailed
    /// Why pairing failed.
    package var reason = PairingFailure(rawValue: 0)
    /// No reason.
    package init() {}
    /// The given reason.
    package init(_ reason: PairingFailure) { self.reason = reason }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
    }
}
