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
    /// The user accepted the prompt.
    case accept
    /// The user declined, or closed the prompt.
    case refuse
    /// The user entered these digits, 0 to 999,999.
    case passkey(UInt32)
    /// The user is typing and has not decided. The peer is notified if both devices want that (Core Vol 3 Part H
    /// 3.5.8).
    case typing(KeypressNotification.Kind)
}
