import BluetoothTypes
import Bonds
import SMP

/// The peer that a person is asked about.
package struct PromptedPeer: Hashable, Sendable {
    /// Which link it is on; unique within the device for as long as it runs.
    package var link: UInt64
    /// Its address as the link has it, its identity if that is known.
    package var address: BluetoothAddress
    /// Its name, if somebody knows it.
    package var name: String?
    /// What it is called in the bond store, or will be.
    package var identifier: BondIdentifier?

    /// The given peer.
    package init(
        link: UInt64,
        address: BluetoothAddress,
        name: String? = nil,
        identifier: BondIdentifier? = nil
    ) {
        self.link = link
        self.address = address
        self.name = name
        self.identifier = identifier
    }
}

/// Somebody who asks persons while two devices pair. Where there is none, every answer is no (AB-A14).
///
/// One prompt at a time is open; the others wait. Everything happens on the loop.
package protocol PairingPrompter: AnyObject {
    /// Shows or asks something. A number or a passkey to show stays until ``closePrompt(_:)``.
    ///
    /// - Parameter answer: Takes what the person did, at any time; after the prompt was closed nothing happens. What decides
    ///   ends the prompt; to accept a passkey that is shown leaves it open.
    func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void)

    /// What was shown or asked about this peer is over: the pairing went on, failed, or lost its link.
    func closePrompt(_ peer: PromptedPeer)
}
