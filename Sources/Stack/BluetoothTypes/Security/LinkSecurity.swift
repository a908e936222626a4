/// The current security of a link, as far as it is trusted.
///
/// The owner of the link keeps L2CAP and GATT up to date with it. Until it does, the link counts as unprotected.
package struct LinkSecurity: Hashable, Sendable {
    /// The level of the key that encrypts the link; nil if the link is not encrypted.
    package var encryption: KeyLevel?
    /// The level of the key shared with the peer, in use or not; nil if there is none or it is too weak for this
    /// system.
    package var usableKey: KeyLevel?
    /// Whether a key for the peer exists, in use or not. If so, the peer has to prove that it has the key before it is
    /// trusted.
    package var hasKey = false
    /// Whether the user authorized the peer for what requires authorization (Core Vol 3 Part C 10.5).
    package var isAuthorized = false
    /// Whether this system is in Secure Connections Only mode, which raises every requirement to level 4 (Core Vol 3
    /// Part C 10.2.4).
    package var isSecureConnectionsOnly = false

    package init() {}

    /// Creates an encrypted link, or an unencrypted one with a key to encrypt it with.
    package init(
        isEncrypted: Bool,
        isAuthenticated: Bool = false,
        isSecureConnections: Bool = false,
        keySize: Int = 16,
        hasKey: Bool = true
    ) {
        let key = KeyLevel(
            keySize: keySize,
            isAuthenticated: isAuthenticated,
            isSecureConnections: isSecureConnections
        )
        encryption = isEncrypted ? key : nil
        usableKey = hasKey ? key : nil
        self.hasKey = hasKey
    }

    package var isEncrypted: Bool { encryption != nil }
    package var isAuthenticated: Bool { encryption?.isAuthenticated ?? false }
    package var isSecureConnections: Bool { encryption?.isSecureConnections ?? false }

    /// Returns the security that both values guarantee.
    ///
    /// Properties of this system rather than of the link come from `later`: whether a key for the peer exists,
    /// authorization, and Secure Connections Only mode.
    package func limited(by later: LinkSecurity) -> LinkSecurity {
        var security = later
        security.encryption = encryption.flatMap { now in later.encryption.map(now.limited) }
        security.usableKey = later.usableKey.map { $0.limited(by: usableKey ?? KeyLevel()) }
        return security
    }
}
