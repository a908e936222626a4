import Cryptography

/// A long-term key, with the numbers that the central shows to ask for it (Core Vol 3 Part H 2.4.4.1).
package struct EncryptionKey: Hashable, Sendable {
    /// The key.
    package var key: Key128
    /// The diversifier (EDIV); 0 for LE Secure Connections and for a short-term key.
    package var diversifier: UInt16
    /// The random value (Rand); 0 for LE Secure Connections and for a short-term key.
    package var random: UInt64

    /// The given values.
    package init(key: Key128, diversifier: UInt16 = 0, random: UInt64 = 0) {
        self.key = key
        self.diversifier = diversifier
        self.random = random
    }
}
