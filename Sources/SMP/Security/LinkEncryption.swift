/// Whether a link is encrypted, and with how good a key.
public struct LinkEncryption: Hashable, Sendable {
    /// The level of the key in use; nil on a link that is not encrypted.
    public var level: KeyLevel?
    /// Whether the link is encrypted.
    public var isEncrypted: Bool { level != nil }

    /// Encrypted with a key of the given level; nil is not encrypted.
    public init(level: KeyLevel? = nil) { self.level = level }

    /// Whether the link is as `requirement` wants it.
    public func meets(_ requirement: SecurityLevel) -> Bool { level.map(requirement.isMet) ?? false }
}

/// What the controller says of a link's encryption.
public enum EncryptionChangeReport: Hashable, Sendable {
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
public enum EncryptionFailure: Hashable, Sendable {
    /// The peer has no such key: PIN or Key Missing (error 0x06).
    case keyMissing
    /// The peer did not answer (errors 0x08, 0x22).
    case timedOut
    /// Another reason.
    case other
}
