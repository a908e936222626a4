import BluetoothTypes
import HCI
import HCIHost

/// An error of a GAP mode or procedure.
package enum GAPError: Error, Hashable, Sendable {
    /// No controller is ready. The request is discarded; repeat it when a controller is ready.
    case notReady
    case refused(Opcode, HCIStatus)
    /// The response to a command was malformed, or too many commands are queued.
    case command(HCICommandError)
    case advertisingData(AdvertisingDataFault)
    /// The requested modes or options are invalid or exclude each other.
    case impossible(String)
    case needsExtendedAdvertising
    case noAdvertisingSetLeft(maximum: Int)
    case busy
    case timedOut
    /// The peer refused, or the controller reported a failure.
    case rejected(HCIStatus)
    case linkLost(HCIStatus)

    init(_ error: HCICommandError) {
        switch error {
        case .refused(let opcode, let status): self = .refused(opcode, status)
        case .host: self = .notReady
        case .malformedResponse, .queueFull: self = .command(error)
        }
    }

    package var status: HCIStatus? {
        switch self {
        case .refused(_, let status), .rejected(let status), .linkLost(let status): status
        case .command(let error): error.status
        default: nil
        }
    }
}

extension GAPError: CustomStringConvertible {
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
