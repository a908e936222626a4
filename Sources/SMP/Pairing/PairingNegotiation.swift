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
        configuration: PairingConfiguration,
        demand: PairingDemand = PairingDemand()
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
        guard keySize >= max(configuration.minimumKeySize, demand.level.minimumKeySize) else {
            throw .encryptionKeySize
        }
        guard demand.isMet(by: level) else { throw .authenticationRequirements }
    }

    /// How good the key will be.
    var level: KeyLevel {
        KeyLevel(
            keySize: keySize,
            isAuthenticated: model.isAuthenticated,
            isSecureConnections: isSecureConnections
        )
    }

    /// Whether both sides keep the keys.
    var isBonding: Bool {
        initiator.requirements.contains(.bonding) && responder.requirements.contains(.bonding)
    }

    /// Whether the peer says that it has what this device gave away another way.
    var peerHasData: Bool { (role == .initiator ? responder : initiator).outOfBandFlag == 1 }

    /// Whether both want to hear of digits that are entered (2.3.5.1).
    var notifiesKeypresses: Bool {
        initiator.requirements.contains(.keypress) && responder.requirements.contains(.keypress)
    }

    /// The keys that go one way. With LE Secure Connections both have the long-term key already (2.4.3.1).
    func keys(from sender: PairingRole) -> KeyKinds {
        // The responder's word holds, which may only take keys away.
        var kinds =
            sender == .initiator
            ? initiator.initiatorKeys.intersection(responder.initiatorKeys)
            : initiator.responderKeys.intersection(responder.responderKeys)
        if isSecureConnections { kinds.remove(.encryption) }
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

/// What a pairing must lead to, or it is not worth anything to this side.
struct PairingDemand: Equatable {
    /// What somebody waits for.
    var level = SecurityLevel.encrypted
    /// Whether protection is asked for where it can be had, whatever the configuration says.
    var wantsProtection = false
    /// The level of the keys that would be replaced: what is worse does not take their place (AB-S10).
    var replaced: KeyLevel?

    func isMet(by level: KeyLevel) -> Bool {
        self.level.isMet(by: level) && (replaced.map(level.isAtLeast) ?? true)
    }
}
