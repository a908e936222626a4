import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// A step of a central manager, as detectors see it.
enum CentralStep: Sendable {
    case requested(CentralRequest)
    case delivered(CentralEvent)
    case changed(ManagerState)
    /// Time has passed. Precedes each other step, for the detectors that depend on time.
    case passed
    /// The manager was released, or its process ended.
    case closed

    /// A request for a connected peer.
    var link: (peer: UUID, request: LinkRequest)? {
        switch self {
        case .requested(.peer(let peer, .link(let request))), .requested(.peer(let peer, .ask(_, let request))):
            (peer, request)
        default: nil
        }
    }

    var peerEvent: (peer: UUID, event: PeerEvent)? {
        switch self {
        case .delivered(.peer(let peer, let event)), .delivered(.answered(let peer, number: _, let event)):
            (peer, event)
        default: nil
        }
    }

    /// The peer whose connection with the manager ends here, whichever side ends it.
    var endedPeer: UUID? {
        switch self {
        case .requested(.peer(let peer, .cancelConnection)), .requested(.peer(let peer, .forget)): peer
        default:
            switch peerEvent {
            case (let peer, .disconnected)?: peer
            default: nil
            }
        }
    }

    /// Whether all connections of the manager end here.
    var endsAll: Bool {
        switch self {
        case .closed: true
        case .changed(let state): state != .poweredOn
        default: false
        }
    }
}

/// A state machine that notices where a central manager breaks one rule.
///
/// Values that the app is notified of are no steps: ``CentralPicture`` counts them.
protocol CentralDetector: Sendable {
    /// Takes in a step. The picture is that of the manager before the step.
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings)
}
