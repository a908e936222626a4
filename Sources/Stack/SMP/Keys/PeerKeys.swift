import BluetoothTypes
import Cryptography

/// The keys shared with a peer that this device has paired with (Core Vol 3 Part H 2.4).
package struct PeerKeys: Hashable, Sendable {
    package var level: KeyLevel
    /// The key that this device, as peripheral, encrypts with when the peer asks for it as central. With LE Secure
    /// Connections it equals ``peerKey``.
    package var localKey: EncryptionKey?
    /// The key that this device, as central, encrypts with.
    package var peerKey: EncryptionKey?
    /// The key that resolves the peer's private addresses (IRK); nil if the peer has none.
    package var identityKey: Key128?
    /// The peer's identity address; nil if the peer did not distribute one.
    package var identityAddress: BluetoothAddress?
    /// The key that this device signs with (CSRK).
    package var localSigningKey: Key128?
    /// The key that the peer signs with (CSRK).
    package var peerSigningKey: Key128?
    /// The counter of the next signature made by this device.
    package var localSignCounter: UInt32
    /// The lowest counter that the peer's next signature may have.
    package var peerSignCounter: UInt32

    /// Whether there is a key to encrypt later links with, in either direction. Without one the other keys are useless,
    /// because neither device could prove that it is the one that was paired.
    package var canEncrypt: Bool { localKey != nil || peerKey != nil }

    package init(level: KeyLevel) {
        self.level = level
        localSignCounter = 0
        peerSignCounter = 0
    }
}

/// The identity of this device behind its private addresses, which peers receive when they pair (Core Vol 3 Part H
/// 2.4.2.1).
package struct LocalIdentity: Hashable, Sendable {
    /// The identity address: public or static random.
    package var address: BluetoothAddress
    /// The identity resolving key (IRK).
    package var key: Key128

    package init(address: BluetoothAddress, key: Key128) { (self.address, self.key) = (address, key) }
}

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
        (self.key, self.diversifier, self.random) = (key, diversifier, random)
    }
}
