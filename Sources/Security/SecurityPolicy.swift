import BluetoothTypes
import SMP

/// What a device does by itself about the security of its links, past how it pairs.
package struct SecurityPolicy: Hashable, Sendable {
    /// What is done when a peer does not have the bond any more that this device has (behaviour 6.12).
    package enum LostBonds: Sendable {
        /// Nothing: the peer is refused until a person removes the bond, as Apple does.
        case refused
        /// A person is asked whether to pair anew (Core Vol 3 Part C 10.3.2). The old bond stays until the new one is
        /// there.
        case asked
    }

    /// What is done when a peer does not have the bond any more.
    package var lostBonds = LostBonds.refused
    /// The same for centrals that pair anew with this device as peripheral; nil for no difference. Whoever was forgotten there
    /// comes like this (behaviour 6.14).
    package var lostBondsOfCentrals: LostBonds?
    /// What this device says as peripheral that it can show and take in; nil for what its configuration says. With a keyboard
    /// alone the code is shown by the central and typed here, as on Apple's devices (behaviour 6.4).
    package var capabilityAsPeripheral: IOCapability?
    /// Whether a person has to agree to pairings in which nothing is compared or entered (AB-A14). Without it a device
    /// that nobody sits at pairs with whoever asks.
    package var asksConsent = true
    /// Whether links to bonded peers are encrypted as soon as they are made, as central (behaviour 6.11).
    package var encryptsBondedPeers = true

    /// Apple's way.
    package init() {}
}

extension PairingConfiguration {
    /// Secure Connections Only mode: nothing but level 4 of security mode 1 (Core Vol 3 Part C 10.2.4).
    package static var secureConnectionsOnly: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.legacy = .refused
        configuration.requiresProtection = true
        configuration.minimumKeySize = 16
        return configuration
    }

    /// The worst key that protects anything. A bond may be older than the configuration, and worse (AB-S07).
    package var floor: KeyLevel {
        KeyLevel(
            keySize: minimumKeySize,
            isAuthenticated: requiresProtection,
            isSecureConnections: legacy == .refused
        )
    }
}

extension KeyLevel {
    /// What keys as good as this meet.
    var asked: SecurityLevel {
        SecurityLevel(
            isAuthenticated: isAuthenticated,
            isSecureConnections: isSecureConnections,
            minimumKeySize: keySize
        )
    }
}
