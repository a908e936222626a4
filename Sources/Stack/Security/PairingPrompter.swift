import BluetoothTypes
import SMP

/// The peer that a prompt is about.
package struct PromptedPeer: Hashable, Sendable {
    /// The number of the link, which is never reused while the device runs.
    package var link: UInt64
    /// The identity address if it is known, or else the address on the link.
    package var address: BluetoothAddress
    /// The name of the peer; nil if it is unknown.
    package var name: String?
    /// The identifier that the bond has, or will have.
    package var identifier: BondIdentifier?
    /// The cause of the pairing, when the prompt opened.
    package var cause: PairingCause

    package init(
        link: UInt64,
        address: BluetoothAddress,
        name: String? = nil,
        identifier: BondIdentifier? = nil,
        cause: PairingCause = .stranger
    ) {
        self.link = link
        self.address = address
        self.name = name
        self.identifier = identifier
        self.cause = cause
    }
}

/// Shows prompts to the user while two devices pair. Without a prompter every prompt is declined (AB-A14).
///
/// Only one prompt is open at a time; the others wait. A prompt that is closed before its answer may be shown again
/// (AB-S16). All methods and handlers are called on the event loop.
package protocol PairingPrompter: AnyObject {
    /// Shows a prompt. A number or passkey stays on display until ``closePrompt(_:)``.
    ///
    /// - Parameter answer: Reports the user's answer, at any time; calls after the prompt has closed are ignored. A
    ///   decision ends the prompt, except that accepting a displayed passkey leaves it open.
    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void)

    /// Closes the prompt about this peer, because the pairing has advanced, failed, or lost its link, or because
    /// another prompt takes its place.
    func closePrompt(_ peer: PromptedPeer)
}

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
