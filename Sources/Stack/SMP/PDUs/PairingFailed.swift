import BluetoothTypes

/// The reason why pairing failed (Core Vol 3 Part H 3.5.5).
package struct PairingFailure: WireValue, Error, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let passkeyEntryFailed = PairingFailure(rawValue: 0x01)
    package static let outOfBandNotAvailable = PairingFailure(rawValue: 0x02)
    /// The I/O capabilities of the two devices do not allow the required security.
    package static let authenticationRequirements = PairingFailure(rawValue: 0x03)
    package static let confirmValueFailed = PairingFailure(rawValue: 0x04)
    package static let pairingNotSupported = PairingFailure(rawValue: 0x05)
    package static let encryptionKeySize = PairingFailure(rawValue: 0x06)
    /// The command is unknown, or not allowed in this state.
    package static let commandNotSupported = PairingFailure(rawValue: 0x07)
    /// The reason has no number of its own.
    package static let unspecifiedReason = PairingFailure(rawValue: 0x08)
    /// Too little time has passed since a failed attempt.
    package static let repeatedAttempts = PairingFailure(rawValue: 0x09)
    package static let invalidParameters = PairingFailure(rawValue: 0x0A)
    package static let dhKeyCheckFailed = PairingFailure(rawValue: 0x0B)
    package static let numericComparisonFailed = PairingFailure(rawValue: 0x0C)
    /// Pairing over BR/EDR is in progress.
    package static let pairingOnOtherTransport = PairingFailure(rawValue: 0x0D)
    package static let crossTransportNotAllowed = PairingFailure(rawValue: 0x0E)
    package static let keyRejected = PairingFailure(rawValue: 0x0F)
    package static let busy = PairingFailure(rawValue: 0x10)

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
    package var reason = PairingFailure(rawValue: 0)
    package init() {}
    package init(_ reason: PairingFailure) { self.reason = reason }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
    }
}
