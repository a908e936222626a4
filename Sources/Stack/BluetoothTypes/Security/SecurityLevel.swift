/// The security that an attribute, a channel or the local host requires of a link: a level of security mode 1 (Core Vol
/// 3 Part C 10.2.1).
package struct SecurityLevel: Hashable, Sendable {
    /// Whether the link must be encrypted. If not, there are no other requirements.
    package var isEncrypted: Bool
    package var isAuthenticated: Bool
    package var isSecureConnections: Bool
    /// The minimum key size, in octets, 7 to 16.
    package var minimumKeySize: Int

    /// Creates a level that requires encryption with such a key.
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

    /// No requirement: level 1.
    package static let none = SecurityLevel(isEncrypted: false)
    /// Encryption with any key: level 2.
    package static let encrypted = SecurityLevel(isAuthenticated: false)
    /// Encryption with an authenticated key: level 3.
    package static let authenticated = SecurityLevel(isAuthenticated: true)
    /// Encryption with an authenticated 16-octet key from LE Secure Connections: level 4.
    package static let secureConnections = SecurityLevel(
        isAuthenticated: true,
        isSecureConnections: true,
        minimumKeySize: 16
    )

    /// Returns this level with a minimum key size of `keySize` octets.
    package func with(keySize: Int) -> SecurityLevel {
        var level = self
        level.minimumKeySize = keySize
        return level
    }

    /// Returns the lowest level that satisfies both.
    package func joined(with other: SecurityLevel) -> SecurityLevel {
        guard isEncrypted, other.isEncrypted else { return isEncrypted ? self : other }
        return SecurityLevel(
            isAuthenticated: isAuthenticated || other.isAuthenticated,
            isSecureConnections: isSecureConnections || other.isSecureConnections,
            minimumKeySize: max(minimumKeySize, other.minimumKeySize)
        )
    }

    /// Whether every link that satisfies this level also satisfies the other.
    package func includes(_ other: SecurityLevel) -> Bool { joined(with: other) == self }

    /// Whether a link encrypted with a key of `level` satisfies this level; nil means not encrypted.
    package func isMet(by level: KeyLevel?) -> Bool {
        guard isEncrypted else { return true }
        guard let level else { return false }
        return level.keySize >= minimumKeySize && (level.isAuthenticated || !isAuthenticated)
            && (level.isSecureConnections || !isSecureConnections)
    }
}
