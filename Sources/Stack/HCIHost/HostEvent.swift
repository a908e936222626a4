import BluetoothTypes
import HCI

/// An event between the host and its controller.
package enum HostEvent: StackEvent {
    case ready(ControllerInformation)
    case failed(HCIHostError)
    case reset(cause: HCIHostError)
    /// A link is being ended because the controller owes an outcome or buffers for it.
    case linkStalled(ConnectionHandle, LinkStall)
    case malformed(HCIPacket, PacketError)
    /// The controller has discarded data because its buffers overflowed, on links of this type (Core Vol 4 Part E
    /// 7.7.26).
    case bufferOverflow(linkKind: UInt8)
    case implausible(EventPacket)
    /// The controller has answered a command that is not pending.
    case unexpectedAnswer(Opcode)

    package static var module: StackModule { .host }

    package var weight: EventWeight {
        switch self {
        case .ready: .information
        case .failed: .error
        case .reset, .linkStalled, .malformed, .bufferOverflow, .implausible, .unexpectedAnswer: .warning
        }
    }

    package var description: String {
        switch self {
        case .ready: "controller ready"
        case .failed(let error): "\(error)"
        case .reset(let cause): "\(cause); resetting the controller"
        case .linkStalled(_, let stall): "ending a link: \(stall)"
        case .malformed(_, let error): "\(error)"
        case .bufferOverflow: "the controller's data buffers have overflowed"
        case .implausible: "ignoring an event that contradicts the state of the host"
        case .unexpectedAnswer: "answer to a command that is not pending"
        }
    }

    package var link: ConnectionHandle? {
        if case .linkStalled(let link, _) = self { link } else { nil }
    }

    package var details: [String: String] {
        switch self {
        case .ready(let information): ["address": "\(information.publicAddress ?? .none)"]
        case .failed(let error): ["layer": error.layer.rawValue]
        case .reset: [:]
        case .linkStalled(_, let stall): ["stall": stall.rawValue]
        case .malformed(let packet, _): ["packet": "\(packet)"]
        case .bufferOverflow(let linkKind): ["link type": "\(linkKind)"]
        case .implausible(let packet): ["event": "\(packet)"]
        case .unexpectedAnswer(let opcode): ["opcode": "\(opcode)"]
        }
    }
}
