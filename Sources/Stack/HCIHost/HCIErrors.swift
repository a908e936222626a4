import BluetoothTypes
import HCI

/// A reason why the host side of HCI does not work, or no longer works.
package enum HCIHostError: Error, Hashable, Sendable {
    case transport(HCITransportError)
    /// The controller has not answered a command within the time-out.
    case commandTimedOut(Opcode)
    /// The controller accepts no commands: it has not granted the host a command credit within the time-out.
    case noCommandCredits
    /// The controller has accepted Disconnect and not reported the disconnection within the time-out.
    case linkNotEnded(ConnectionHandle)
    /// The controller has accepted the cancellation of a connection attempt and not reported its end within the
    /// time-out.
    case attemptNotEnded
    /// The controller holds data of several links and returns no buffers.
    case dataNotTaken
    /// The controller refused a command that the host requires.
    case commandRefused(Opcode, HCIStatus)
    /// The answer to a command that the host requires is malformed.
    case malformedResponse(Opcode, PacketError)
    /// The controller sent Hardware Error with this vendor-specific code.
    case hardwareError(UInt8)
    /// The controller lacks something that the host requires.
    case unsupportedController(reason: String)
    /// The controller failed too often in a short time; `cause` is the last failure.
    indirect case resetTooOften(cause: HCIHostError)
    /// The controller failed with `cause` during the reset that `after` made necessary.
    indirect case resetFailed(after: HCIHostError, cause: HCIHostError)
    /// The host has been stopped, or has not been started.
    case notRunning

    /// The component in which an error arose.
    package enum Layer: String, Sendable {
        case transport
        /// The controller, which failed or refused a command.
        case controller
        case host
    }

    package var layer: Layer {
        switch self {
        case .transport: .transport
        case .notRunning: .host
        case .resetTooOften(let cause), .resetFailed(_, let cause): cause.layer
        default: .controller
        }
    }

    /// Whether the controller has no room for another host, as `harald controllers` answers beyond its connections.
    package var isWithoutRoom: Bool { self == .commandRefused(Reset.opcode, .rejectedForLimitedResources) }

    /// The controller's error code, or nil if the error did not come from the controller.
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
    package var description: String {
        switch self {
        case .transport(.unreachable(let address, let reason)): "cannot reach the controller \(address): \(reason)"
        case .transport(let error): "the transport to the controller has closed: \(error)"
        case .commandTimedOut(let opcode): "the controller does not answer \(Self.name(opcode))"
        case .noCommandCredits: "the controller accepts no more commands"
        case .linkNotEnded(let handle): "the controller does not report the end of link \(handle.rawValue)"
        case .attemptNotEnded: "the controller does not report the end of a cancelled connection attempt"
        case .dataNotTaken: "the controller has stopped sending data"
        case _ where isWithoutRoom: "the controller accepts no more connections; end a program that uses it"
        case .commandRefused(let opcode, let status): "the controller refuses \(Self.name(opcode)): \(status)"
        case .malformedResponse(let opcode, let error): "the answer to \(Self.name(opcode)) is malformed: \(error)"
        case .hardwareError(let code): "the controller reports hardware error 0x\(String(code, radix: 16))"
        case .unsupportedController(let reason): "the controller cannot be used: \(reason)"
        case .resetTooOften(let cause): "the controller keeps failing: \(cause)"
        case .resetFailed(let after, let cause): "\(after); the reset failed too: \(cause)"
        case .notRunning: "the host is not running"
        }
    }

    private static func name(_ opcode: Opcode) -> String {
        HCICommandRegistry.type(for: opcode).map { "\($0.name) (\(opcode))" } ?? "command \(opcode)"
    }
}

/// A reason why a command failed.
package enum HCICommandError: Error, Hashable, Sendable {
    case refused(Opcode, HCIStatus)
    case malformedResponse(Opcode, PacketError)
    case queueFull
    /// The controller failed, or the host is not running. All commands pending at that time fail with the same error.
    case host(HCIHostError)

    /// The controller's error code, or nil if the error did not come from the controller.
    package var status: HCIStatus? { asHostError.status }

    /// Whether the command failed because the host or the controller does not work.
    package var isOfHost: Bool {
        if case .host = self { true } else { false }
    }
}

extension HCICommandError: CustomStringConvertible {
    package var description: String { self == .queueFull ? "the command queue is full" : asHostError.description }

    /// The error as the reason for a failure of the whole host.
    var asHostError: HCIHostError {
        switch self {
        case .refused(let opcode, let status): .commandRefused(opcode, status)
        case .malformedResponse(let opcode, let error): .malformedResponse(opcode, error)
        case .queueFull: .noCommandCredits
        case .host(let error): error
        }
    }
}
