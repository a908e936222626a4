import BluetoothTypes
import HCI
import HCIHost

/// An error of a GAP mode or procedure.
package enum GAPError: Error, Hashable, Sendable {
    /// No controller is ready. The request is discarded; repeat it when a controller is ready.
    case notReady
    /// The controller refused a command.
    case refused(Opcode, HCIStatus)
    /// The response to a command was malformed, or too many commands are queued.
    case command(HCICommandError)
    /// The advertising data or the scan response data violate a rule.
    case advertisingData(AdvertisingDataFault)
    /// The requested modes or options are invalid or exclude each other.
    case impossible(String)
    /// The request requires a controller with extended advertising.
    case needsExtendedAdvertising
    /// All advertising sets of the controller are in use.
    case noAdvertisingSetLeft(maximum: Int)
    /// Another procedure of this kind is running.
    case busy
    /// The time limit was reached.
    case timedOut
    /// The peer refused, or the controller reported a failure.
    case rejected(HCIStatus)
    /// The link ended before the procedure did.
    case linkLost(HCIStatus)

    /// Creates the error for a failed command.
    init(_ error: HCICommandError) {
        switch error {
        case .refused(let opcode, let status): self = .refused(opcode, status)
        case .host: self = .notReady
        case .malformedResponse, .queueFull: self = .command(error)
        }
    }

    /// The HCI status behind the error, if there is one.
    package var status: HCIStatus? {
        switch self {
        case .refused(_, let status), .rejected(let status), .linkLost(let status): status
        case .command(let error): error.status
        default: nil
        }
    }
}

extension GAPError: CustomStringConvertible {
    /// The error and its remedy, in words.
    package var description: String {
        switch self {
        case .notReady: "the controller is not ready; try again when it is"
        case .refused(let opcode, let status):
            "\(HCICommandError.refused(opcode, status)); \(Self.advice(status))"
        case .command(let error): "\(error)"
        case .advertisingData(let fault): "\(fault)"
        case .impossible(let reason): reason
        case .needsExtendedAdvertising:
            "the controller does not support extended advertising; use legacy packets, or another controller"
        case .noAdvertisingSetLeft(let maximum):
            "the controller supports only \(maximum) advertising set\(maximum == 1 ? "" : "s"); stop another one first"
        case .busy: "another procedure of this kind is running; wait for it to end, or cancel it"
        case .timedOut: "the operation timed out"
        case .rejected(let status): "the peer refused: \(status)"
        case .linkLost(let status): "the link ended: \(status)"
        }
    }

    private static func advice(_ status: HCIStatus) -> String {
        switch status {
        case .unknownCommand, .unsupportedFeatureOrParameter:
            "it does not support this; request less, or use another controller"
        case .commandDisallowed, .controllerBusy: "it is busy; stop the other activity, or try again later"
        case .memoryCapacityExceeded, .connectionLimitExceeded, .rejectedForLimitedResources:
            "it has no resources left; end a link or an advertisement first"
        case .invalidParameters: "a parameter is out of range"
        default: "try again later"
        }
    }
}

extension HCIStatus {
    /// Whether a controller that refuses with this status may accept later, after a link or another activity has ended.
    var isPassing: Bool {
        switch self {
        case .commandDisallowed, .connectionLimitExceeded, .memoryCapacityExceeded, .rejectedForLimitedResources,
            .controllerBusy:
            true
        default: false
        }
    }
}
