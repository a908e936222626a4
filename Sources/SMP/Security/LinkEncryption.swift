/// What the controller says of a link's encryption.
package enum EncryptionChangeReport: Hashable, Sendable {
    /// Encryption is on.
    case on
    /// The key was changed on an encrypted link (HCI Encryption Key Refresh Complete).
    case refreshed
    /// Encryption is off.
    case off
    /// Encryption was asked for and is not on.
    case failed(EncryptionFailure)
}

/// Why a link could not be encrypted.
package enum EncryptionFailure: Hashable, Sendable {
    /// The peer has no such key: PIN or Key Missing (error 0x06).
    case keyMissing
    /// The peer did not answer (errors 0x08, 0x22).
    case timedOut
    /// Another reason.
    case other
}
