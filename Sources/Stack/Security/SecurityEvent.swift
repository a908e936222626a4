import BluetoothTypes
import HCI
import HCIHost
import SMP

/// An event in the security of a link.
package struct SecurityEvent: StackEvent {
    /// The kinds of events.
    package enum Kind: Sendable {
        /// A new link was refused because an encrypted link to the same peer exists (AB-G03).
        case secondLinkRefused
        case gaveWay
        /// The link lost its encryption and is being ended (AB-L07).
        case securityLost
        /// A pairing succeeded, with or without a bond.
        case paired(hasBond: Bool)
        case failed(SecurityError)
        /// The peer has no key for the existing bond (behaviour 6.12).
        case bondLost
        case signatureNotKept(BondError)
        case bondNotKept(BondError)
        /// A pairing was refused, because the peer, or strangers in general, failed too often (AB-S12, AB-S18).
        case notNow(PairingCause)
        /// The user has to be asked, for this cause.
        case asks(PairingPrompt, PairingCause)
    }

    package let kind: Kind
    package let peer: BluetoothAddress?
    package let link: ConnectionHandle?

    package init(_ kind: Kind, peer: BluetoothAddress, link: ConnectionHandle) {
        self.kind = kind
        self.peer = peer
        self.link = link
    }

    package static var module: StackModule { .security }

    package var weight: EventWeight {
        switch kind {
        case .paired, .failed, .bondLost, .asks, .notNow: .detail
        case .secondLinkRefused, .gaveWay: .notice
        case .securityLost: .warning
        case .signatureNotKept, .bondNotKept: .error
        }
    }

    package var description: String {
        let peer = peer.map { "\($0)" } ?? "a peer"
        return switch kind {
        case .secondLinkRefused: "refused a second link to \(peer), which already has an encrypted one"
        case .gaveWay: "ending the link to \(peer) in favour of another one"
        case .securityLost: "ending the link to \(peer), which is no longer secure"
        case .paired(let hasBond): "paired with \(peer)\(hasBond ? "" : ", without a bond")"
        case .failed(let error): "could not secure the link to \(peer): \(error)"
        case .bondLost: "\(peer) no longer has the bond with this device"
        case .signatureNotKept(let error): "a signature is not valid, because its counter could not be stored: \(error)"
        case .bondNotKept(let error): "\(error)"
        case .notNow(.stranger): "refused to pair with \(peer) now: too many pairings of strangers failed"
        case .notNow: "refused to pair with \(peer) now: it failed too often"
        case .asks(let prompt, .app): "pairing with \(peer), as an app needs it: \(prompt)"
        case .asks(let prompt, _): "\(peer) wants to pair: \(prompt)"
        }
    }
}
