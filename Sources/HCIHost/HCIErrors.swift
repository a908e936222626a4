import BluetoothTypes
import HCI

/// Why the host's half of HCI does not work, or no longer does.
package enum HCIHostError: Error, Hashable, Sendable {
    /// The line to the controller is gone.
    case transport(HCITransportError)
    /// The controller has not answered a command in time.
    case commandTimedOut(Opcode)
    /// The controller takes no command any more: it has not given the host leave to send one in time.
    case noCommandCredits
    /// The controller has been told to end a link, and does not say that it has.
    case linkNotEnded(ConnectionHandle)
    /// The controller has been told to end its attempt to connect, and does not say that it has.
    case attemptNotEnded
    /// The controller has data of several links, and none leaves.
    case dataNotTaken
    /// The controller refused a command that the host cannot do without.
    case commandRefused(Opcode, HCIStatus)
    /// The controller answered a command that the host cannot do without in a way that cannot be read.
    case malformedResponse(Opcode, PacketError)
    /// The controller said that it has failed; the number is its maker's.
    case hardwareError(UInt8)
    /// The controller lacks something that the host cannot do without.
    case unsupportedController(reason: String)
    /// The controller had to be reset too often in a short time; the cause is the last one.
    indirect case resetTooOften(cause: HCIHostError)
    /// The controller did not come back from the reset that the first error made necessary.
    indirect case resetFailed(after: HCIHostError, cause: HCIHostError)
    /// The host was stopped, or not started.
    case notRunning

    /// Where the error came up.
    package enum Layer: String, Sendable {
        /// On the line between host and controller.
        case transport
        /// In the controller.
        case controller
        /// In the host.
        case host
    }

    /// Where the error came up.
    package var layer: Layer {
        switch self {
        case .transport: .transport
        case .notRunning: .host
        case .resetTooOften(let cause), .resetFailed(_, let cause): cause.layer
        default: .controller
        }
    }

    /// The error code of the controller, when one stands behind the error.
    package var status: HCIStatus? {
        switch self {
        case .commandRefused(_, let status): status
        case .hardwareError: .hardwareFailure
        case .resetTooOften(let cause), .resetFailed(_, let cause): cause.status
        default: nil
        }
    }
}

extension HCIHostError: CustomStringConvertible {
    /// One sentence for a log.
    package var description: String {
        switch self {
        case .transport(let error): "the line to the controller is gone: \(error)"
        case .commandTimedOut(let opcode): "the controller does not answer \(Self.name(opcode))"
        case .noCommandCredits: "the controller takes no more commands"
        case .linkNotEnded(let handle): "the controller does not end link \(handle.rawValue)"
        case .attemptNotEnded: "the controller does not end its attempt to connect"
        case .dataNotTaken: "the controller sends no more data"
        case .commandRefused(let opcode, let status): "the controller refuses \(Self.name(opcode)): \(status)"
        case .malformedResponse(let opcode, let error): "the answer to \(Self.name(opcode)) cannot be read: \(error)"
        case .hardwareError(let code): "the controller reports hardware error 0x\(String(code, radix: 16))"
        case .unsupportedController(let reason): "the controller cannot be used: \(reason)"
        case .resetTooOften(let cause): "the controller keeps failing: \(cause)"
        case .resetFailed(let after, let cause): "\(after), and then, after a reset, \(cause)"
        case .notRunning: "the host is not running"
        }
    }

    private static func name(_ opcode: Opcode) -> String {
        HCICommandRegistry.type(for: opcode).map { "\($0.name) (\(opcode))" } ?? "command \(opcode)"
    }
}

/// Why a command did not do what it was sent for.
package enum HCICommandError: Error, Hashable, Sendable {
    /// The controller refused it.
    case refused(Opcode, HCIStatus)
    /// The return parameters cannot be read.
    case malformedResponse(Opcode, PacketError)
    /// Too many commands wait already.
    case queueFull
    /// The controller is not there to answer: it failed, or the host is not running. All commands that wait at that
    /// moment fail with the same error.
    case host(HCIHostError)

    /// The error code of the controller, when one stands behind the error.
    package var status: HCIStatus? {
        switch self {
        case .refused(_, let status): status
        case .malformedResponse, .queueFull: nil
        case .host(let error): error.status
        }
    }
}

extension HCICommandError: CustomStringConvertible {
    /// One sentence for a log.
    package var description: String {
        switch self {
        case .refused(let opcode, let status): HCIHostError.commandRefused(opcode, status).description
        case .malformedResponse(let opcode, let error): HCIHostError.malformedResponse(opcode, error).description
        case .queueFull: "too many commands wait for the controller"
        case .host(let error): error.description
        }
    }

    /// The same, seen as the reason why the whole host does not work.
    var asHostError: HCIHostError {
        switch self {
        case .refused(let opcode, let status): .commandRefused(opcode, status)
        case .malformedResponse(let opcode, let error): .malformedResponse(opcode, error)
        case .queueFull: .noCommandCredits
        case .host(let error): error
        }
    }
}

extension HCICommandError {
    /// Whether there is no controller to refuse anything.
    package var isOfHost: Bool {
        if case .host = self { true } else { false }
    }
}
