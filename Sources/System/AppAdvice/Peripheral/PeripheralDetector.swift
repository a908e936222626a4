import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// A step of a peripheral manager, as detectors see it.
enum PeripheralStep: Sendable {
    case requested(PeripheralRequest)
    case delivered(PeripheralEvent)
    case changed(ManagerState)
    /// Time has passed. Precedes each other step.
    case passed

    var central: UUID? {
        switch self {
        case .delivered(.subscribed(let central, _)),
            .delivered(.readRequested(transaction: _, let central, _, offset: _)),
            .delivered(.writeRequested(transaction: _, let central, _, needsResponse: _)),
            .delivered(.channelOpened(psm: _, let central, _)), .delivered(.centralConnected(let central)):
            central.identifier
        default: nil
        }
    }
}

/// A state machine that notices where a peripheral manager breaks one rule.
protocol PeripheralDetector: Sendable {
    /// Takes in a step. The picture is that of the manager before the step.
    mutating func accept(_ step: PeripheralStep, _ picture: PeripheralPicture, _ findings: inout Findings)
}
