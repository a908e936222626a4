import Cryptography

/// A long-term key with the EDIV and Rand values by which the central refers to it (Core Vol 3 Part H 2.4.4.1).
package struct EncryptionKey: Hashable, Sendable {
    /// The long-term key, or a short-term key of legacy pairing.
    package var key: Key128
    /// The diversifier (EDIV); 0 for LE Secure Connections and for a short-term key.
    package var diversifier: UInt16
    /// The random value (Rand); 0 for LE Secure Connections and for a short-term key.
    package var random: UInt64

    /// Creates a key; without `diversifier` and `random` one of LE Secure Connections.
    package init(key: Key128, diversifier: UInt16 = 0, random: UInt64 = 0) {
        self.key = key
        self.diversifier = diversifier
        self.random = random
    }
}
