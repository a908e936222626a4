import BluetoothTypes

/// What keeps this device from a pairing, whatever the peer can do. No pairing is begun then: one that fails may cost the
/// link, which is good enough for everything else.
package enum PairingObstacle: Hashable, Sendable {
    /// The device does not pair.
    case notPairable
    /// There is nobody to agree.
    case nobodyToAsk
    /// Protection against somebody in the middle is needed, and there is nothing to show or to enter a number on.
    case noInputNoOutput
    /// LE Secure Connections are needed, and the device has none.
    case noSecureConnections
    /// A longer key is needed than the device makes.
    case shortKeys
}

extension PairingObstacle: CustomStringConvertible {
    /// What is missing, for a person.
    package var description: String {
        switch self {
        case .notPairable: "this device does not pair"
        case .nobodyToAsk: "there is nobody here to agree to it"
        case .noInputNoOutput:
            "it has to be safe from others in the middle, and this device has neither a display nor a keyboard for that"
        case .noSecureConnections: "LE Secure Connections are needed, and this device has none"
        case .shortKeys: "longer keys are needed than this device makes"
        }
    }
}

/// Who agrees to a pairing in which nothing is compared or entered (AB-A14).
package enum PairingConsent: Hashable, Sendable {
    /// A person is asked.
    case asked
    /// Nobody has to.
    case given
    /// Nobody is there: no pairing comes to anything but one with data that came another way.
    case missing
}

extension PairingMachine {
    private var hasData: Bool { context.peerData != nil || context.ownData != nil }

    /// Whether any pairing can come to anything.
    var canPair: Bool { configuration.isPairable && (hasData || context.consent != .missing) }

    /// Whether a pairing can be protected against somebody in the middle by what this device can do.
    var canProtect: Bool { hasData || configuration.ioCapability != .noInputNoOutput }

    /// What keeps this device from a key of `level` that may take the place of one of the level `kept` (AB-S10).
    func obstacle(to level: SecurityLevel, replacing kept: KeyLevel?) -> PairingObstacle? {
        guard canPair else { return configuration.isPairable ? .nobodyToAsk : .notPairable }
        let needsProtection =
            level.isAuthenticated || configuration.requiresProtection || kept?.isAuthenticated ?? false
        guard canProtect || !needsProtection else { return .noInputNoOutput }
        let needsSecureConnections = level.isSecureConnections || kept?.isSecureConnections ?? false
        guard configuration.legacy != .only || !needsSecureConnections else { return .noSecureConnections }
        let keySize = max(level.minimumKeySize, configuration.minimumKeySize, kept?.keySize ?? 0)
        return configuration.maximumKeySize < keySize ? .shortKeys : nil
    }
}
