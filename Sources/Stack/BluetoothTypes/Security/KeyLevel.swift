/// The strength of a key, which follows from the pairing that created it (Core Vol 3 Part C 10.2.1, Part H 2.3.4).
package struct KeyLevel: Hashable, Sendable {
    /// The effective key size, in octets, 7 to 16. The other octets are zero.
    package var keySize: Int
    /// Whether the key is authenticated (MITM-protected).
    package var isAuthenticated: Bool
    /// Whether the key comes from LE Secure Connections, and so is safe from passive eavesdropping on the pairing
    /// (AB-S15).
    package var isSecureConnections: Bool

    package init(keySize: Int = 16, isAuthenticated: Bool = false, isSecureConnections: Bool = false) {
        self.keySize = keySize
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Whether a key of this level may replace one of the other: it is no weaker in any respect (AB-S10).
    package func isAtLeast(_ other: KeyLevel) -> Bool {
        keySize >= other.keySize && (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections)
    }

    /// Returns the properties that both keys have, and the shorter key size.
    package func limited(by other: KeyLevel) -> KeyLevel {
        KeyLevel(
            keySize: min(keySize, other.keySize),
            isAuthenticated: isAuthenticated && other.isAuthenticated,
            isSecureConnections: isSecureConnections && other.isSecureConnections
        )
    }
}
