import BluetoothTypes
import Cryptography

/// What a pairing has led to.
package struct PairingResult: Hashable, Sendable {
    /// With LE Secure Connections the key of both directions; with legacy pairing the short-term key of this link.
    package var linkKey: Key128
    /// Octets of the key.
    package var keySize: Int
    /// Whether somebody in the middle would have been noticed.
    package var isAuthenticated: Bool
    /// Whether the key comes from LE Secure Connections; legacy keys can be had by whoever listened (AB-S15).
    package var isSecureConnections: Bool
    /// Whether both sides keep the keys.
    package var isBonding: Bool
    /// What the peer gave.
    package var peerKeys = DistributedKeys()
    /// What was given to the peer.
    package var ownKeys = DistributedKeys()

    /// How good the keys are.
    var level: KeyLevel {
        KeyLevel(keySize: keySize, isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections)
    }

    /// What is worth keeping.
    var keys: PeerKeys {
        var keys = PeerKeys(level: level)
        let shared = isSecureConnections ? EncryptionKey(key: linkKey) : nil
        keys.localKey = shared ?? ownKeys.encryption
        keys.peerKey = shared ?? peerKeys.encryption
        keys.identityKey = peerKeys.identity.flatMap { $0.key == .zero ? nil : $0.key }
        keys.identityAddress = peerKeys.identity?.address
        keys.localSigningKey = ownKeys.signing
        keys.peerSigningKey = peerKeys.signing
        return keys
    }
}

/// Why a pairing ended without keys.
package enum PairingError: Error, Hashable, Sendable {
    /// This side ended it.
    case refused(PairingFailure)
    /// The peer ended it.
    case refusedByPeer(PairingFailure)
    /// Nothing came for ``PairingMachine/timeout``; no pairing is possible on this link any more (Vol 3 Part H 3.4).
    case timedOut
    /// The link could not be encrypted with the new key.
    case encryptionFailed
    /// The link is gone.
    case linkLost
}

extension PairingError: CustomStringConvertible {
    /// What happened, for a person.
    package var description: String {
        switch self {
        case .refused(let reason): "pairing was ended here: \(reason)"
        case .refusedByPeer(let reason): "pairing was ended by the peer: \(reason)"
        case .timedOut: "the peer stopped answering while pairing; reconnect to try again"
        case .encryptionFailed: "the link could not be encrypted with the new key"
        case .linkLost: "the link was lost while pairing"
        }
    }
}
