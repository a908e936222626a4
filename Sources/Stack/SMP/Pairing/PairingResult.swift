import BluetoothTypes
import Cryptography

/// The result of a pairing.
package struct PairingResult: Hashable, Sendable {
    /// The key of both directions with LE Secure Connections, or the short-term key of this link with legacy pairing.
    package var linkKey: Key128
    /// The key size, in octets.
    package var keySize: Int
    /// Whether the key is authenticated (MITM-protected).
    package var isAuthenticated: Bool
    /// Whether the key comes from LE Secure Connections. Eavesdroppers can compute legacy keys (AB-S15).
    package var isSecureConnections: Bool
    package var isBonding: Bool
    /// The keys distributed by the peer.
    package var peerKeys = DistributedKeys()
    /// The keys distributed to the peer.
    package var ownKeys = DistributedKeys()

    var level: KeyLevel {
        KeyLevel(keySize: keySize, isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections)
    }

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

/// An error that ends a pairing without keys.
package enum PairingError: Error, Hashable, Sendable {
    case refused(PairingFailure)
    case refusedByPeer(PairingFailure)
    /// The peer was silent for ``PairingMachine/timeout``; pairing is no longer possible on this link (Vol 3 Part H
    /// 3.4).
    case timedOut
    case encryptionFailed
    case linkLost
}

extension PairingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let reason): "this device ended the pairing: \(reason)"
        case .refusedByPeer(let reason): "the peer ended the pairing: \(reason)"
        case .timedOut: "the peer stopped responding during pairing; reconnect to try again"
        case .encryptionFailed: "the link could not be encrypted with the new key"
        case .linkLost: "the link was lost during pairing"
        }
    }
}
