import BluetoothTypes
import SMP

/// The security procedures that a device performs on its own initiative, in addition to its pairing configuration.
package struct SecurityPolicy: Hashable, Sendable {
    /// The response to a peer that no longer has the bond (behaviour 6.12).
    package enum LostBonds: Sendable {
        /// The peer is refused until the user removes the bond, as Apple does.
        case refused
        /// The user is asked whether to pair again (Core Vol 3 Part C 10.3.2). The old bond stays until the new one has
        /// been stored.
        case asked
    }

    package var lostBonds = LostBonds.refused
    /// The response to a central that pairs again with this device as peripheral; nil to use ``lostBonds``. A central
    /// on which this device was forgotten pairs again in this way (behaviour 6.14).
    package var lostBondsOfCentrals: LostBonds?
    /// The input and output capabilities of this device as peripheral; nil to use those of its configuration. With a
    /// keyboard only, the central displays the passkey and the user enters it here, as on Apple's devices (behaviour
    /// 6.4).
    package var capabilityAsPeripheral: IOCapability?
    /// Whether the user has to agree to pairings in which nothing is compared or entered (AB-A14). If not, an
    /// unattended device pairs with any peer that asks.
    package var asksConsent = true
    /// Whether, as central, a link to a bonded peer is encrypted as soon as it is established (behaviour 6.11).
    package var encryptsBondedPeers = true

    /// Creates Apple's policy (behaviours 6.11, 6.12).
    package init() {}
}

extension PairingConfiguration {
    /// The configuration for Secure Connections Only mode: level 4 of security mode 1 for everything (Core Vol 3 Part C
    /// 10.2.4).
    package static var secureConnectionsOnly: PairingConfiguration {
        var configuration = PairingConfiguration()
        configuration.legacy = .refused
        configuration.requiresProtection = true
        configuration.minimumKeySize = 16
        return configuration
    }

    /// The minimum level of a key. A bond may predate the configuration and be weaker (AB-S07).
    package var floor: KeyLevel {
        KeyLevel(
            keySize: minimumKeySize,
            isAuthenticated: requiresProtection,
            isSecureConnections: legacy == .refused
        )
    }
}

extension KeyLevel {
    var asked: SecurityLevel {
        SecurityLevel(
            isAuthenticated: isAuthenticated,
            isSecureConnections: isSecureConnections,
            minimumKeySize: keySize
        )
    }
}
