/// What a person is asked or shown while two devices pair (Core Vol 3 Part H 2.3.5). A passkey and a number to compare
/// are never the same prompt (AB-S08).
package enum PairingPrompt: Hashable, Sendable {
    /// Pair with this device or not? Nothing protects against somebody in the middle.
    case confirmPairing
    /// This device was paired before and has not shown that it still has the keys. Pair again, in place of what is kept?
    /// Whoever takes its address may ask the same (AB-S09).
    case confirmReplacement
    /// Show these six digits; they are entered on the other device.
    case showPasskey(UInt32)
    /// Enter the six digits that the other device shows, or that are entered there too.
    case enterPasskey
    /// Do both devices show this number?
    case compare(UInt32)
}

/// What the person does.
package enum PairingAnswer: Hashable, Sendable {
    /// Yes.
    case accept
    /// No, or the prompt was closed.
    case refuse
    /// These digits, 0 to 999,999.
    case passkey(UInt32)
    /// The person types; nothing is decided yet. The peer is told where both want that (Core Vol 3 Part H 3.5.8).
    case typing(KeypressNotification.Kind)
}
