/// What a link has at this moment, as far as it is believed. Its owner keeps L2CAP and GATT up to date with it; until somebody
/// does, the link counts as unprotected.
package struct LinkSecurity: Hashable, Sendable {
    /// What the key is worth that the link is encrypted with; nil when it is not.
    package var encryption: KeyLevel?
    /// What the key is worth that there is for the peer, in use or not, if it is good enough for this system.
    package var usableKey: KeyLevel?
    /// Whether the peer has to show a key before anything is believed of it: there is one, in use or not.
    package var hasKey = false
    /// Whether the user of this system lets the peer have what asks for that (Core Vol 3 Part C 10.5).
    package var isAuthorized = false
    /// Whether this system is in Secure Connections Only mode: whatever asks for anything asks for level 4 (Core Vol 3
    /// Part C 10.2.4).
    package var isSecureConnectionsOnly = false

    /// No security.
    package init() {}

    /// Encryption, or only a key to be encrypted with.
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

    /// Whether the link is encrypted.
    package var isEncrypted: Bool { encryption != nil }
    /// Whether the key that it is encrypted with is an authenticated one.
    package var isAuthenticated: Bool { encryption?.isAuthenticated ?? false }
    /// Whether that key was made by LE Secure Connections.
    package var isSecureConnections: Bool { encryption?.isSecureConnections ?? false }

    /// The same link without encryption.
    package var inTheClear: LinkSecurity {
        var security = self
        security.encryption = nil
        return security
    }

    /// The security that both give. What is not the link's but this system's is as it is later: whether there is a key for the
    /// peer, and what the user and the mode of the system say.
    package func limited(by later: LinkSecurity) -> LinkSecurity {
        var security = later
        security.encryption = encryption.flatMap { now in later.encryption.map(now.limited) }
        security.usableKey = later.usableKey.map { $0.limited(by: usableKey ?? KeyLevel()) }
        return security
    }
}
