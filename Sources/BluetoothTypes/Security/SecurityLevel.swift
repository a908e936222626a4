/// What is asked of a link, by an attribute, by a channel, or by somebody here: a level of security mode 1 (Core Vol 3 Part C
/// 10.2.1).
package struct SecurityLevel: Hashable, Sendable {
    /// Whether the link must be encrypted. If not, nothing else is asked.
    package var isEncrypted: Bool
    /// Whether the key must be authenticated.
    package var isAuthenticated: Bool
    /// Whether the key must come from LE Secure Connections.
    package var isSecureConnections: Bool
    /// The shortest key that will do, in octets, 7 to 16.
    package var minimumKeySize: Int

    /// Encryption with a key like this.
    package init(isAuthenticated: Bool, isSecureConnections: Bool = false, minimumKeySize: Int = 7) {
        isEncrypted = true
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.minimumKeySize = minimumKeySize
    }

    private init(isEncrypted: Bool) {
        self.isEncrypted = isEncrypted
        (isAuthenticated, isSecureConnections, minimumKeySize) = (false, false, 7)
    }

    /// Nothing: level 1.
    package static let none = SecurityLevel(isEncrypted: false)
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

    /// What both ask for together.
    package func joined(with other: SecurityLevel) -> SecurityLevel {
        guard isEncrypted, other.isEncrypted else { return isEncrypted ? self : other }
        return SecurityLevel(
            isAuthenticated: isAuthenticated || other.isAuthenticated,
            isSecureConnections: isSecureConnections || other.isSecureConnections,
            minimumKeySize: max(minimumKeySize, other.minimumKeySize)
        )
    }

    /// Whether whatever is good enough for this is good enough for the other.
    package func includes(_ other: SecurityLevel) -> Bool { joined(with: other) == self }

    /// Whether a link that is encrypted with a key of `level` will do; nil is not encrypted.
    package func isMet(by level: KeyLevel?) -> Bool {
        guard isEncrypted else { return true }
        guard let level else { return false }
        return level.keySize >= minimumKeySize && (level.isAuthenticated || !isAuthenticated)
            && (level.isSecureConnections || !isSecureConnections)
    }
}
