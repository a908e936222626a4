import BluetoothTypes

/// The parameters of a pairing, which follow from the features of both devices (Core Vol 3 Part H 2.3.5).
struct PairingNegotiation: Hashable, Sendable {
    let role: PairingRole
    let initiator: PairingFeatures
    let responder: PairingFeatures
    let isSecureConnections: Bool
    let model: AssociationModel
    /// The key size, in octets.
    let keySize: Int

    /// - Throws: ``PairingFailure`` if these features rule out a pairing that satisfies `configuration` and `demand`.
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

    var level: KeyLevel {
        KeyLevel(
            keySize: keySize,
            isAuthenticated: model.isAuthenticated,
            isSecureConnections: isSecureConnections
        )
    }

    var isBonding: Bool {
        initiator.requirements.contains(.bonding) && responder.requirements.contains(.bonding)
    }

    var peerHasData: Bool { (role == .initiator ? responder : initiator).outOfBandFlag == 1 }

    /// Whether both devices want keypress notifications (2.3.5.1).
    var notifiesKeypresses: Bool {
        initiator.requirements.contains(.keypress) && responder.requirements.contains(.keypress)
    }

    /// Returns the keys that `sender` distributes. With LE Secure Connections both already have the long-term key
    /// (2.4.3.1).
    func keys(from sender: PairingRole) -> KeyKinds {
        // The response is decisive, and may only remove keys.
        var kinds =
            sender == .initiator
            ? initiator.initiatorKeys.intersection(responder.initiatorKeys)
            : initiator.responderKeys.intersection(responder.responderKeys)
        if isSecureConnections { kinds.remove(.encryption) }
        return kinds
    }

    /// The task of this device in passkey entry; nil for other models.
    var passkeyTask: PasskeyTask? {
        guard case .passkey(let entry) = model else { return nil }
        switch (entry, role) {
        case (.initiatorShows, .initiator), (.responderShows, .responder): return .show
        case (.initiatorShows, .responder), (.responderShows, .initiator): return .enter
        case (.bothTake, _): return .enterOnBoth
        }
    }

    enum PasskeyTask {
        case show
        /// The peer displays the passkey.
        case enter
        /// The user makes the passkey up, and enters it on both devices.
        case enterOnBoth

        /// The prompt for the passkey; nil if this device displays it.
        var entryPrompt: PairingPrompt? {
            switch self {
            case .show: nil
            case .enter: .enterPasskey
            case .enterOnBoth: .enterPasskeyOnBoth
            }
        }
    }
}

/// The minimum result of a pairing. Without it the pairing is useless to this device.
struct PairingDemand: Equatable {
    /// The level that waiting callers require.
    var level = SecurityLevel.encrypted
    /// Whether to request MITM protection where possible, regardless of the configuration.
    var wantsProtection = false
    /// The level of the keys to be replaced. Weaker keys must not replace them (AB-S10).
    var replaced: KeyLevel?

    func isMet(by level: KeyLevel) -> Bool {
        self.level.isMet(by: level) && (replaced.map(level.isAtLeast) ?? true)
    }
}
