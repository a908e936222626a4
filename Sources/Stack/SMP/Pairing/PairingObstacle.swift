import BluetoothTypes

/// A reason why this device cannot pair as required, whatever the peer can do.
///
/// No pairing is started in that case. A failed one may cost the link, which is good enough for everything else.
package enum PairingObstacle: Hashable, Sendable {
    case notPairable
    case noPrompter
    case noInputNoOutput
    case noSecureConnections
    case shortKeys
}

extension PairingObstacle: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notPairable: "pairing is turned off on this device"
        case .noPrompter:
            "it needs the consent of the user, and no program asks for it; for a service, `harald agent` does"
        case .noInputNoOutput:
            "it needs MITM protection, and this device has neither a display nor a keyboard"
        case .noSecureConnections: "it needs LE Secure Connections, which this device does not support"
        case .shortKeys: "it needs a longer key than this device supports"
        }
    }
}

/// The consent to a pairing in which nothing is compared or entered (AB-A14).
package enum PairingConsent: Hashable, Sendable {
    case asked
    case given
    /// There is no user to ask, so that only a pairing with out-of-band data can succeed.
    case missing
}

extension PairingMachine {
    private var hasData: Bool { context.peerData != nil || context.ownData != nil }

    var canPair: Bool { configuration.isPairable && (hasData || context.consent != .missing) }

    var canProtect: Bool { hasData || configuration.ioCapability != .noInputNoOutput }

    /// Returns the obstacle to a key of `level` that may also replace one of the level `kept` (AB-S10); nil if there is
    /// none.
    func obstacle(to level: SecurityLevel, replacing kept: KeyLevel?) -> PairingObstacle? {
        guard canPair else { return configuration.isPairable ? .noPrompter : .notPairable }
        let needsProtection =
            level.isAuthenticated || configuration.requiresProtection || kept?.isAuthenticated ?? false
        guard canProtect || !needsProtection else { return .noInputNoOutput }
        let needsSecureConnections = level.isSecureConnections || kept?.isSecureConnections ?? false
        guard configuration.legacy != .only || !needsSecureConnections else { return .noSecureConnections }
        let keySize = max(level.minimumKeySize, configuration.minimumKeySize, kept?.keySize ?? 0)
        return configuration.maximumKeySize < keySize ? .shortKeys : nil
    }
}
