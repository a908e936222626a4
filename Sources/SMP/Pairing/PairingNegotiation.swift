import BluetoothTypes

/// What the features of both sides lead to (Core Vol 3 Part H 2.3.5).
struct PairingNegotiation: Hashable, Sendable {
    /// Which side this device is on.
    let role: PairingRole
    /// What the initiator said.
    let initiator: PairingFeatures
    /// What the responder said.
    let responder: PairingFeatures
    let isSecureConnections: Bool
    let model: AssociationModel
    /// Octets of the key.
    let keySize: Int

    /// - Throws: why there can be no pairing with these features.
    init(
        role: PairingRole,
        initiator: PairingFeatures,
        responder: PairingFeatures,
        configuration: PairingConfiguration
    ) throws(PairingFailure) {
        // A field with a reserved value is an invalid parameter (Vol 3 Part H 3.5.5; AB-S04 for key sizes above 16).
        guard initiator.isValid, responder.isValid else { throw .invalidParameters }
        self.role = role
        self.initiator = initiator
        self.responder = responder
        isSecureConnections =
            initiator.requirements.contains(.secureConnections) && responder.requirements.contains(.secureConnections)
        // Secure Connections Only mode (AB-S07).
        guard isSecureConnections || configuration.legacy != .refused else { throw .authenticationRequirements }
        model = .of(initiator: initiator, responder: responder, isSecureConnections: isSecureConnections)
        guard model.isAuthenticated || !configuration.requiresProtection else { throw .authenticationRequirements }
        keySize = Int(min(initiator.maximumKeySize, responder.maximumKeySize))
        guard keySize >= configuration.minimumKeySize else { throw .encryptionKeySize }
    }

    /// Whether both sides keep the keys.
    var isBonding: Bool {
        initiator.requirements.contains(.bonding) && responder.requirements.contains(.bonding)
    }

    /// The keys that go one way. With LE Secure Connections both have the long-term key already (2.4.3.1).
    func keys(from sender: PairingRole) -> KeyKinds {
        // The responder's word holds, which may only take keys away.
        var kinds =
            sender == .initiator
            ? initiator.initiatorKeys.intersection(responder.initiatorKeys)
            : initiator.responderKeys.intersection(responder.responderKeys)
        if isSecureConnections { kinds.remove(.encryption) }
        kinds.formIntersection([.encryption, .identity, .signing])
        return kinds
    }

    /// What this device does about a passkey; nil when there is none.
    var passkeyTask: PasskeyTask? {
        guard case .passkey(let entry) = model else { return nil }
        switch (entry, role) {
        case (.initiatorShows, .initiator), (.responderShows, .responder): return .show
        default: return .take
        }
    }

    enum PasskeyTask {
        case show
        case take
    }
}
