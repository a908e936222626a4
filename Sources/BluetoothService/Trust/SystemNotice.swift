import BluetoothTypes
import Foundation
import HCIHost
import SMP

/// What the system tells the person who uses it, without a question.
package enum SystemNotice: Hashable, Sendable {
    /// A peer has removed its pairing information, or somebody else uses its address. It stays refused until the person
    /// forgets it here (behaviour 6.12), or agrees to pair anew where the system asks that at once (behaviour 6.14).
    case peerForgotUs(BondedPeer, isAsked: Bool)
    /// A bond had to give way to a new one (AB-S14).
    case forgotten(BondedPeer)
    /// A pairing came to nothing: a wrong code, a peer that gave up or broke the rules, or nobody reacted. The peer is its name
    /// for persons, or else its address.
    case pairingFailed(peer: String, PairingError)
    /// The keys of a pairing could not be kept, so that it has failed (AB-S14, AB-S10).
    case bondNotKept(reason: String)
    /// The bonds cannot be used: nobody is recognised, and nobody can be bonded (AB-G06, AB-H08).
    case bondsUnavailable(reason: String)
    /// The controller fails after everything that can be done here.
    case controllerStaysBroken(HCIHostError)
    /// An app wants Bluetooth, which is switched off (behaviour 1.16).
    case poweredOff(app: String)
    /// Something has come that an app which does not run wanted the person to know of (behaviour 3.15).
    case alert(app: String, peer: String, AppAlert)
}

extension SystemNotice {
    /// How much it matters to whoever looks after the system. The person is told in any case.
    var weight: HappeningWeight {
        switch self {
        case .bondsUnavailable, .controllerStaysBroken: .error
        case .bondNotKept, .forgotten: .warning
        case .peerForgotUs, .pairingFailed, .poweredOff, .alert: .information
        }
    }

    /// What a person can do about a controller that nothing here mends. Firmware may stay degraded over each reset, and over a
    /// restart of the machine, as long as it has power.
    static func advice(for cause: HCIHostError) -> String {
        switch cause.layer {
        case .transport: "its line ends again and again: look at its cable, or at the program at its other end"
        case .controller, .host:
            "no reset helps: power the controller off; unplug it, or shut the machine down, and wait some seconds"
        }
    }
}

extension SystemNotice: CustomStringConvertible {
    /// What happened, and what to do.
    package var description: String {
        switch self {
        case .peerForgotUs(let peer, isAsked: false):
            "\(peer.label) has removed its pairing information; forget it here to pair again"
        case .peerForgotUs(let peer, isAsked: true):
            "\(peer.label) has removed its pairing information, or is somebody else; it is refused unless you agree to pair anew"
        case .forgotten(let peer):
            "\(peer.label) was forgotten to make room for a new device; pair with it again to use it"
        case .pairingFailed(let peer, let error):
            "pairing with \(peer) has failed: \(error)\(error.advice.map { "; \($0)" } ?? "")"
        case .bondNotKept(let reason): "the pairing was given up: \(reason)"
        case .bondsUnavailable(let reason): "paired devices cannot be used: \(reason)"
        case .controllerStaysBroken(let cause): "Bluetooth does not work: \(cause); \(Self.advice(for: cause))"
        case .poweredOff(let app): "Bluetooth is off; \(app.quotedName) needs it to be switched on"
        case .alert(let app, let peer, let alert): "\(app.quotedName): \(peer) \(alert.description)"
        }
    }
}

/// What the person is told of in place of an app that does not run (behaviour 3.15).
package enum AppAlert: Hashable, Sendable {
    case connected
    case disconnected
    case notified

    fileprivate var description: String {
        switch self {
        case .connected: "is connected; open the app to use it"
        case .disconnected: "is not connected any more"
        case .notified: "has something new; open the app to see it"
        }
    }
}

/// A peer that this system is bonded with, as the person sees it in the settings (behaviour 6.10). Apps do not.
package struct BondedPeer: Hashable, Sendable {
    /// What apps call it.
    package let identifier: UUID
    /// Its name, if it is known.
    package let name: String?
    /// Whether its keys are authenticated: nobody can have been in the middle when they were made.
    package let isAuthenticated: Bool
    /// Whether it has removed its pairing information, so that it is refused until it is forgotten here too (behaviour 6.12).
    package let hasForgottenUs: Bool

    /// Its name, or else its identifier.
    var label: String { name?.quotedName ?? "\(identifier)" }
}
