/// The cause of a pairing. It decides which prompt is on the screen, and which side the prompt says began (AB-S16).
///
/// The causes are in order of precedence: a later one goes first.
package enum PairingCause: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// The peer began, on a link that it opened itself. It has proved nothing.
    case stranger
    /// The peer began, on a link that this device opened or that is encrypted with the key of the bond.
    case known
    /// An app of this device needs the pairing.
    case app

    package static func < (first: PairingCause, second: PairingCause) -> Bool { first.rawValue < second.rawValue }
}
