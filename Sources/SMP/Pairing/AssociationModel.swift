/// Who of the two begins a pairing: the central is the initiator, the peripheral the responder (Core Vol 3 Part H 2.1).
package enum PairingRole: Sendable {
    /// Sends the Pairing Request.
    case initiator
    /// Answers it.
    case responder

    var other: PairingRole { self == .initiator ? .responder : .initiator }
}

/// How the two devices come to trust each other (Core Vol 3 Part H 2.3.5.1).
package enum AssociationModel: Hashable, Sendable {
    /// Nobody is asked for a number: no protection against somebody in the middle.
    case justWorks
    /// Both show a number, and persons say whether it is the same. LE Secure Connections only.
    case numericComparison
    /// One shows six digits and the other takes them, or both take the same.
    case passkey(PasskeyEntry)
    /// Data that came another way.
    case outOfBand

    /// Where a passkey is shown.
    package enum PasskeyEntry: Hashable, Sendable {
        /// The initiator shows it, the responder takes it.
        case initiatorShows
        /// The responder shows it, the initiator takes it.
        case responderShows
        /// Both take what a person thought of.
        case bothTake
    }

    /// Whether keys of this model are authenticated (Vol 3 Part C 10.2.1).
    package var isAuthenticated: Bool { self != .justWorks }

    /// What the features of both sides lead to (Core Vol 3 Part H 2.3.5.1, tables 2.6 to 2.8).
    package static func of(
        initiator: PairingFeatures,
        responder: PairingFeatures,
        isSecureConnections: Bool
    ) -> AssociationModel {
        let flags = (initiator.outOfBandFlag == 1, responder.outOfBandFlag == 1)
        if isSecureConnections ? flags.0 || flags.1 : flags.0 && flags.1 { return .outOfBand }
        let isProtected = initiator.requirements.contains(.protection) || responder.requirements.contains(.protection)
        guard isProtected else { return .justWorks }
        return of(initiator.ioCapability, responder.ioCapability, isSecureConnections: isSecureConnections)
    }

    /// Table 2.8: what each pair of capabilities leads to when protection is wanted.
    private static func of(
        _ initiator: IOCapability,
        _ responder: IOCapability,
        isSecureConnections: Bool
    ) -> AssociationModel {
        switch (initiator, responder) {
        case (.displayYesNo, .displayYesNo), (.displayYesNo, .keyboardDisplay), (.keyboardDisplay, .displayYesNo),
            (.keyboardDisplay, .keyboardDisplay):
            if isSecureConnections { return .numericComparison }
            return initiator == .displayYesNo && responder == .displayYesNo
                ? .justWorks : .passkey(responder == .displayYesNo ? .responderShows : .initiatorShows)
        case (.keyboardOnly, .keyboardOnly): return .passkey(.bothTake)
        case (.keyboardOnly, .displayOnly), (.keyboardOnly, .displayYesNo), (.keyboardOnly, .keyboardDisplay),
            (.keyboardDisplay, .displayOnly):
            return .passkey(.responderShows)
        case (.displayOnly, .keyboardOnly), (.displayOnly, .keyboardDisplay), (.displayYesNo, .keyboardOnly),
            (.keyboardDisplay, .keyboardOnly):
            return .passkey(.initiatorShows)
        default: return .justWorks
        }
    }
}
