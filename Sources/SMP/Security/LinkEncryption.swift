/// Whether a link is encrypted, and with how good a key.
package struct LinkEncryption: Hashable, Sendable {
    /// The level of the key in use; nil on a link that is not encrypted.
    package var level: KeyLevel?
    /// Whether the link is encrypted.
    package var isEncrypted: Bool { level != nil }

    /// Encrypted with a key of the given level; nil is not encrypted.
    package init(level: KeyLevel? = nil) { self.level = level }

    /// Whether the link is as `requirement` wants it.
    package func meets(_ requirement: SecurityLevel) -> Bool { level.map(requirement.isMet) ?? false }
}

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
