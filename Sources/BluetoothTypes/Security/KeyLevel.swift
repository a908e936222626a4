/// What a key is worth: what the pairing that it comes from protects against (Core Vol 3 Part C 10.2.1, Part H 2.3.4).
package struct KeyLevel: Hashable, Sendable {
    /// Octets that were not made zero, 7 to 16.
    package var keySize: Int
    /// Whether somebody in the middle would have been noticed.
    package var isAuthenticated: Bool
    /// Whether whoever listened to the pairing has learned nothing (AB-S15).
    package var isSecureConnections: Bool

    package init(keySize: Int = 16, isAuthenticated: Bool = false, isSecureConnections: Bool = false) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Whether a key of this level may take the place of one of the other: it is worse in nothing (AB-S10).
    package func isAtLeast(_ other: KeyLevel) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }

    /// What both keys give.
    package func limited(by other: KeyLevel) -> KeyLevel {
        KeyLevel(
            keySize: min(keySize, other.keySize),
            isAuthenticated: isAuthenticated && other.isAuthenticated,
            isSecureConnections: isSecureConnections && other.isSecureConnections
        )
    }
}
