import HCI

/// What has become of the encryption of a link (Core Vol 4 Part E 7.7.8, 7.7.39).
package enum EncryptionReport: Hashable, Sendable {
    /// The link is encrypted from now on, under the key that this host gave.
    case on
    /// The link, which was encrypted before, is so under the key that this host gave last.
    case refreshed
    /// The link is not encrypted any more.
    case off
    /// The encryption has not begun, and why: ``HCIStatus/pinOrKeyMissing`` when the peer has no key,
    /// ``HCIStatus/unsupportedRemoteFeature`` when it cannot encrypt. The link is as it was before.
    case failed(HCIStatus)
}
