import HCI

/// A change in the encryption of a link (Core Vol 4 Part E 7.7.8, 7.7.39).
package enum EncryptionReport: Hashable, Sendable {
    /// The link is now encrypted with the key from this host.
    case on
    /// The link was encrypted before and now uses the most recent key from this host.
    case refreshed
    /// The link is no longer encrypted.
    case off
    /// Encryption has failed to start: ``HCIStatus/pinOrKeyMissing`` if the peer has no key,
    /// ``HCIStatus/unsupportedRemoteFeature`` if it does not support encryption. The link stays in its previous state.
    case failed(HCIStatus)
}
