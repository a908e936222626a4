import BluetoothTypes
import HCI
import HCIHost

/// Why a mode could not be entered, or a procedure did not come to its end.
package enum GAPError: Error, Hashable, Sendable {
    /// There is no controller that is ready; what was asked for is to be asked for again when there is one.
    case notReady
    /// The controller refused a command.
    case refused(Opcode, HCIStatus)
    /// The answer to a command could not be read, or too many commands wait.
    case command(HCICommandError)
    /// The advertising data, or the scan response, break a rule.
    case advertisingData(AdvertisingDataFault)
    /// The modes or options that were asked for exclude each other.
    case impossible(String)
    /// Only a controller with extended advertising can do this.
    case needsExtendedAdvertising
    /// The controller has as many advertising sets as it can hold.
    case noAdvertisingSetLeft(maximum: Int)
    /// Another procedure of the kind is under way.
    case busy
    /// The time for it is over.
    case timedOut
    /// The peer refused.
    case rejected(HCIStatus)
    /// Whoever asked for it has changed his mind.
    case cancelled
    /// The link has ended.
    case linkLost(HCIStatus)
    /// The peer has no such attribute, or does not let it be read.
    case notFound

    /// The error behind the answer to a command.
    init(_ error: HCICommandError) {
        switch error {
        case .refused(let opcode, let status): self = .refused(opcode, status)
        case .host: self = .notReady
        case .malformedResponse, .queueFull: self = .command(error)
        }
    }

    /// The error code of the controller or of the peer, when one stands behind the error.
    package var status: HCIStatus? {
        switch self {
        case .refused(_, let status), .rejected(let status), .linkLost(let status): status
        case .command(let error): error.status
        default: nil
        }
    }
}

extension GAPError: CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package var description: String {
        switch self {
        case .notReady: "the controller is not ready; ask again when it is"
        case .refused(let opcode, let status):
            "\(HCICommandError.refused(opcode, status)); \(Self.advice(status))"
        case .command(let error): "\(error)"
        case .advertisingData(let fault): "\(fault)"
        case .impossible(let reason): reason
        case .needsExtendedAdvertising:
            "the controller has no extended advertising; use legacy packets, or another controller"
        case .noAdvertisingSetLeft(let maximum):
            "the controller advertises \(maximum) set\(maximum == 1 ? "" : "s") at a time; stop another one first"
        case .busy: "another procedure of the kind is under way; wait for its end, or cancel it"
        case .timedOut: "the time for it is over"
        case .rejected(let status): "the peer refuses: \(status)"
        case .cancelled: "it was cancelled"
        case .linkLost(let status): "the link has ended: \(status)"
        case .notFound: "the peer does not offer it"
        }
    }

    private static func advice(_ status: HCIStatus) -> String {
        switch status {
        case .unknownCommand, .unsupportedFeatureOrParameter:
            "it cannot do this; ask for less, or use another controller"
        case .commandDisallowed, .controllerBusy: "it is doing something else; stop that first, or ask again later"
        case .memoryCapacityExceeded, .connectionLimitExceeded, .rejectedForLimitedResources:
            "it has no room left; end a link or an advertisement first"
        case .invalidParameters: "one of the values is outside the range that it allows"
        default: "ask again later"
        }
    }
}

extension HCIStatus {
    /// Whether a controller that refuses with this may agree later: when a link has ended, or something else has stopped.
    var isPassing: Bool {
        switch self {
        case .commandDisallowed, .connectionLimitExceeded, .memoryCapacityExceeded, .rejectedForLimitedResources,
            .controllerBusy:
            true
        default: false
        }
    }
}
