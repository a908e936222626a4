/// The role in a pairing: the central is the initiator, the peripheral the responder (Core Vol 3 Part H 2.1).
package enum PairingRole: Sendable {
    case initiator
    case responder

    var other: PairingRole { self == .initiator ? .responder : .initiator }
}

/// The method by which the devices authenticate each other (Core Vol 3 Part H 2.3.5.1).
package enum AssociationModel: Hashable, Sendable {
    /// No number is compared or entered; there is no MITM protection.
    case justWorks
    /// Both devices display a number, and the user compares them. LE Secure Connections only.
    case numericComparison
    /// The user enters six digits that the other device displays, or the same digits on both devices.
    case passkey(PasskeyEntry)
    case outOfBand

    /// The device that displays the passkey.
    package enum PasskeyEntry: Hashable, Sendable {
        /// The initiator displays it, and the user enters it on the responder.
        case initiatorShows
        /// The responder displays it, and the user enters it on the initiator.
        case responderShows
        /// Neither displays it; the user enters the same digits on both.
        case bothTake
    }

    /// Whether this model creates authenticated keys (Vol 3 Part C 10.2.1).
    package var isAuthenticated: Bool { self != .justWorks }

    /// Returns the model that follows from the features of both devices (Core Vol 3 Part H 2.3.5.1, tables 2.6 to 2.8).
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

    /// Returns the model for two I/O capabilities when MITM protection is required (table 2.8).
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

/// A prompt for the user during pairing (Core Vol 3 Part H 2.3.5).
///
/// A passkey and a number to compare never use the same prompt (AB-S08), and neither do the two modes of entering a
/// passkey (AB-S17).
package enum PairingPrompt: Hashable, Sendable {
    /// Asks whether to pair with the device, without MITM protection.
    case confirmPairing
    /// Asks whether to pair again and replace the bond, because the device has not proved that it still has the keys.
    /// Any device that uses its address can cause this prompt (AB-S09).
    case confirmReplacement
    /// Displays six digits, which the user enters on the other device.
    case showPasskey(UInt32)
    /// Asks for the six digits that the other device displays. If that device asks for a passkey instead of displaying
    /// one, its pairing is with a third device (AB-S17).
    case enterPasskey
    /// Asks for six digits that the user makes up and enters on both devices. A passkey that any device displays
    /// belongs to another pairing, and must not be entered (AB-S17).
    case enterPasskeyOnBoth
    /// Asks whether both devices display this number.
    case compare(UInt32)
}

/// The user's response to a prompt.
package enum PairingAnswer: Hashable, Sendable {
    case accept
    /// The user declined, or closed the prompt.
    case refuse
    /// The user entered these digits, 0 to 999,999.
    case passkey(UInt32)
    /// The user is typing and has not decided. The peer is notified if both devices want that (Core Vol 3 Part H
    /// 3.5.8).
    case typing(KeypressNotification.Kind)
}
