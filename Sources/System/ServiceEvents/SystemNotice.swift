import BluetoothTypes
import Foundation
import HCIHost

/// A notice to the user that needs no answer.
package enum SystemNotice: Hashable, Sendable {
    /// A peer has removed its pairing information, or another device uses its address. The peer stays refused until the
    /// user forgets it here (behaviour 6.12), or agrees to pair again where the system asks right away
    /// (behaviour 6.14).
    case peerForgotUs(BondedPeer, isAsked: Bool)
    /// A bond was evicted by a new one (AB-S14).
    case forgotten(BondedPeer)
    /// A pairing failed: the code was wrong, the peer gave up or broke the rules, or there was no reaction. `peer` is
    /// the peer's name, or else its address; `reason` includes what to do.
    case pairingFailed(peer: String, reason: String)
    /// A pairing failed because its keys could not be saved (AB-S14, AB-S10).
    case bondNotKept(reason: String)
    /// The bonds cannot be used. No peer is recognized, and none can bond (AB-G06, AB-H08).
    case bondsUnavailable(reason: String)
    /// The controller still fails after all recovery steps.
    case controllerStaysBroken(HCIHostError)
    /// An app needs Bluetooth, which is switched off (behaviour 1.16).
    case poweredOff(app: String)
    /// A tool answers prompts from now on that rules of the policy file would have answered with yes.
    case promptsGoToTool(rules: Int)
    /// No tool answers prompts any more, and the policy file decides again.
    case promptsGoToPolicy
    /// The policy file has decided about a pairing, although a tool could have been asked. `peer` is the peer's name,
    /// or else its address.
    case decidedByPolicy(peer: String, isRefused: Bool)
    /// An app waits for the user to allow it Bluetooth, and no tool asks the user.
    case permissionWaits(app: String)
    /// An event occurred that an app which is not running wants the user to be alerted to (behaviour 3.15).
    case alert(app: String, peer: String, AppAlert)
}

extension SystemNotice {
    /// The weight for the administrator of the system. The user is notified in any case.
    package var weight: EventWeight {
        switch self {
        case .bondsUnavailable, .controllerStaysBroken: .error
        case .bondNotKept, .forgotten, .permissionWaits: .warning
        case .peerForgotUs, .pairingFailed, .poweredOff, .alert, .decidedByPolicy: .information
        case .promptsGoToTool, .promptsGoToPolicy: .information
        }
    }

    /// Returns what the user can do about a controller that recovery cannot repair. Its firmware may stay in a degraded
    /// state through resets and restarts of the machine for as long as it has power.
    package static func advice(for cause: HCIHostError) -> String {
        switch cause.layer {
        case .transport: "its transport closes repeatedly: check its cable, or the program at the other end"
        case .controller, .host:
            "resets do not help: power the controller off; unplug it, or shut the machine down, and wait a few seconds"
        }
    }
}

extension SystemNotice: CustomStringConvertible {
    package var description: String {
        switch self {
        case .peerForgotUs(let peer, isAsked: false):
            "\(peer.label) has removed its pairing information; forget it here to pair again"
        case .peerForgotUs(let peer, isAsked: true):
            "\(peer.label) has removed its pairing information, or is another device; it is refused unless you agree to pair again"
        case .forgotten(let peer):
            "\(peer.label) was forgotten to make room for a new device; pair with it again to use it"
        case .pairingFailed(let peer, let reason): "pairing with \(peer) failed: \(reason)"
        case .bondNotKept(let reason): "the pairing was aborted: \(reason)"
        case .bondsUnavailable(let reason): "paired devices cannot be used: \(reason)"
        case .controllerStaysBroken(let cause): "Bluetooth does not work: \(cause); \(Self.advice(for: cause))"
        case .poweredOff(let app): "Bluetooth is off; \(app.quotedName) needs it to be switched on"
        case .promptsGoToTool(let rules):
            """
            pairing prompts are answered by a tool now, such as the page or harald agent; as long as it is open, rules of the \
            policy file that say yes (\(rules)) do not apply
            """
        case .promptsGoToPolicy: "no tool answers pairing prompts any more; the policy file decides again"
        case .decidedByPolicy(let peer, isRefused: true): "the policy file refused to pair with \(peer)"
        case .decidedByPolicy(let peer, isRefused: false): "the policy file entered its code for \(peer)"
        case .permissionWaits(let app):
            "\(app.quotedName) waits for permission to use Bluetooth; start `harald agent`, and answer its prompt"
        case .alert(let app, let peer, let alert): "\(app.quotedName): \(peer) \(alert.description)"
        }
    }
}

/// An event that the system alerts the user to in place of an app that is not running (behaviour 3.15).
package enum AppAlert: Hashable, Sendable {
    case connected
    case disconnected
    case notified

    fileprivate var description: String {
        switch self {
        case .connected: "is connected; open the app to use it"
        case .disconnected: "is no longer connected"
        case .notified: "has something new; open the app to see it"
        }
    }
}

/// A bonded peer as shown in the user's settings (behaviour 6.10). Not visible to apps.
package struct BondedPeer: Hashable, Sendable {
    /// The identifier that apps know the peer by.
    package let identifier: UUID
    /// The name, or nil if unknown.
    package let name: String?
    /// Whether the keys are authenticated (MITM-protected).
    package let isAuthenticated: Bool
    /// Whether the peer has lost its pairing information, and is refused until it is forgotten here (behaviour 6.12).
    package let hasForgottenUs: Bool

    package init(identifier: UUID, name: String?, isAuthenticated: Bool, hasForgottenUs: Bool) {
        (self.identifier, self.name) = (identifier, name)
        (self.isAuthenticated, self.hasForgottenUs) = (isAuthenticated, hasForgottenUs)
    }

    var label: String { name?.quotedName ?? "\(identifier)" }
}
