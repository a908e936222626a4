/// How good a key is: what the pairing that it comes from protects against (Core Vol 3 Part C 10.2.1, Part H 2.3.4).
package struct KeyLevel: Hashable, Sendable {
    /// Octets that were not made zero, 7 to 16.
    package var keySize: Int
    /// Whether somebody in the middle would have been noticed.
    package var isAuthenticated: Bool
    /// Whether whoever listened to the pairing has learned nothing (AB-S15).
    package var isSecureConnections: Bool

    /// The given values.
    package init(keySize: Int, isAuthenticated: Bool, isSecureConnections: Bool) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Whether a key of this level may take the place of one of the other: it is worse in nothing (AB-S10).
    package func isAtLeast(_ other: KeyLevel) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }
}

/// What somebody needs of a link: a level of security mode 1 (Core Vol 3 Part C 10.2.1).
package struct SecurityLevel: Hashable, Sendable {
    /// Whether the key must be authenticated.
    package var isAuthenticated: Bool
    /// Whether the key must come from LE Secure Connections.
    package var isSecureConnections: Bool
    /// The shortest key that will do, in octets, 7 to 16.
    package var minimumKeySize: Int

    /// The given values.
    package init(isAuthenticated: Bool, isSecureConnections: Bool = false, minimumKeySize: Int = 7) {
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.minimumKeySize = minimumKeySize
    }

    /// Encrypted, with whatever key: level 2.
    package static let encrypted = SecurityLevel(isAuthenticated: false)
    /// Encrypted with an authenticated key: level 3.
    package static let authenticated = SecurityLevel(isAuthenticated: true)
    /// Encrypted with an authenticated key of 16 octets from LE Secure Connections: level 4.
    package static let secureConnections = SecurityLevel(
        isAuthenticated: true,
        isSecureConnections: true,
        minimumKeySize: 16
    )

    /// This level, with a key of at least `keySize` octets.
    package func with(keySize: Int) -> SecurityLevel {
        var level = self
        level.minimumKeySize = keySize
        return level
    }

    /// Whether a key of `level` will do.
    package func isMet(by level: KeyLevel) -> Bool {
        level.keySize >= minimumKeySize && (level.isAuthenticated || !isAuthenticated)
            && (level.isSecureConnections || !isSecureConnections)
    }
}
