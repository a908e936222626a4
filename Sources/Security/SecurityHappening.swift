import BluetoothTypes
import Bonds
import HCI
import HCIHost
import SMP

/// What happens to the security of a link.
package struct SecurityHappening: StackHappening {
    /// What can happen.
    package enum Kind: Sendable {
        /// A link is refused: there is one to the peer already, which is encrypted (AB-G03).
        case secondLinkRefused
        /// Another link to the peer takes the place of this one.
        case gaveWay
        /// The link is not protected any more as it was, and ends (AB-L07).
        case securityLost
        /// A pairing has succeeded; whether it made a bond.
        case paired(hasBond: Bool)
        /// A pairing or encryption came to nothing.
        case failed(SecurityError)
        /// The peer has no key for the bond that there is (behaviour 6.12).
        case bondLost
        /// The number of a signature could not be kept, so that the signature does not count.
        case signatureNotKept(BondError)
        /// A change of a bond could not be kept.
        case bondNotKept(BondError)
    }

    /// What happened.
    package let kind: Kind
    package let peer: BluetoothAddress?
    package let link: ConnectionHandle?

    package init(_ kind: Kind, peer: BluetoothAddress, link: ConnectionHandle) {
        self.kind = kind
        self.peer = peer
        self.link = link
    }

    package static var room: StackRoom { .security }

    package var weight: HappeningWeight {
        switch kind {
        case .paired, .failed, .bondLost: .detail
        case .secondLinkRefused, .gaveWay: .notice
        case .securityLost: .warning
        case .signatureNotKept, .bondNotKept: .error
        }
    }

    package var description: String {
        let peer = peer.map { "\($0)" } ?? "a peer"
        return switch kind {
        case .secondLinkRefused: "a second link to \(peer) is refused"
        case .gaveWay: "the link to \(peer) gives way to another one of the same peer"
        case .securityLost: "the link to \(peer) has lost its security and is ended"
        case .paired(let hasBond): "paired with \(peer)\(hasBond ? "" : ", without a bond")"
        case .failed(let error): "the link to \(peer) is not protected: \(error)"
        case .bondLost: "\(peer) has lost its bond"
        case .signatureNotKept(let error): "a signature does not count: \(error)"
        case .bondNotKept(let error): "\(error)"
        }
    }
}
