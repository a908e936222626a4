import BluetoothTypes
import Cryptography

/// All that this device keeps of a peer that it has paired with (Core Vol 3 Part H 2.4).
package struct PeerKeys: Hashable, Sendable {
    /// How good they are.
    package var level: KeyLevel
    /// The key that the peer asks for as central, and that this device answers with as peripheral. With LE Secure
    /// Connections it is the same as ``peerKey``.
    package var localKey: EncryptionKey?
    /// The key that this device asks for as central.
    package var peerKey: EncryptionKey?
    /// The key that resolves the peer's private addresses; nil when it has none.
    package var identityKey: Key128?
    /// The address that stays; nil when the peer gave none.
    package var identityAddress: BluetoothAddress?
    /// The key that this device signs with.
    package var localSigningKey: Key128?
    /// The key that the peer signs with.
    package var peerSigningKey: Key128?
    /// The number of the next signature made here.
    package var localSignCounter: UInt32
    /// The lowest number that the peer's next signature may have.
    package var peerSignCounter: UInt32

    /// Whether there is a key to encrypt later links with, in either direction. Without one nothing else of them is of use:
    /// nobody could ever show that he is the one who was paired with.
    package var canEncrypt: Bool { localKey != nil || peerKey != nil }

    /// No keys, at the given level.
    package init(level: KeyLevel) {
        self.level = level
        localSignCounter = 0
        peerSignCounter = 0
    }
}

/// Who this device is behind its private addresses, as peers learn it when they pair (Core Vol 3 Part H 2.4.2.1).
package struct LocalIdentity: Hashable, Sendable {
    /// A public or static random address.
    package var address: BluetoothAddress
    /// The identity resolving key.
    package var key: Key128

    /// The given values.
    package init(address: BluetoothAddress, key: Key128) {
        self.address = address
        self.key = key
    }
}
