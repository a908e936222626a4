/// A change of a link's encryption, as reported by the controller.
package enum EncryptionChangeReport: Hashable, Sendable {
    /// The link is encrypted from now on.
    case on
    /// The key of an encrypted link was changed (HCI Encryption Key Refresh Complete).
    case refreshed
    /// The link is no longer encrypted.
    case off
    /// Encryption was requested but could not be turned on.
    case failed(EncryptionFailure)
}

/// The reason why a link could not be encrypted.
package enum EncryptionFailure: Hashable, Sendable {
    /// The peer does not have the key: PIN or Key Missing (error 0x06).
    case keyMissing
    /// The peer did not respond (errors 0x08, 0x22).
    case timedOut
    /// Any other reason that the controller reports.
    case other
}
