import Accessories
import BluetoothSimulation
import BluetoothTypes
import CaptureStory
import HCI
import ServiceEvents
import ServiceMessages

/// What is unusual in an event or a packet, so that something that was done to the world may be its cause.
enum CauseSymptom: Hashable, Sendable {
    /// A response that takes longer than this is late, in microseconds.
    private static let lateAfter: Int64 = 1_500_000

    /// A link was lost, or never made.
    case lost
    case refused
    /// A request has no response, or a late one.
    case late
    /// A response cannot be read.
    case malformed
    /// A value that the device sent by itself, with its octet if it has only one.
    case value(UInt8?)
    case newTable
    case newParameters
    /// The app was closed, suspended or opened.
    case life

    init?(_ observation: Observation) {
        switch observation.content {
        // One of the two has asked for any other end.
        case .linkEnded(let reason) where reason != .localHostTerminated && reason != .remoteUserTerminated:
            self = .lost
        case .appMoved, .appLaunched: self = .life
        case .delivered(.central(.peer(_, let event))), .delivered(.central(.answered(_, _, let event))):
            guard let symptom = Self.symptom(event) else { return nil }
            self = symptom
        default: return nil
        }
    }

    private static func symptom(_ event: PeerEvent) -> CauseSymptom? {
        switch event {
        case .servicesModified: .newTable
        case .connectionFailed: .lost
        default: nil
        }
    }

    init?(_ packet: MonitoredPacket, _ cause: PacketCause) {
        switch cause.rule {
        case .wasGivenUp: self = .lost
        case .timedOut: self = .late
        case .answersRequest where Self.isError(packet): self = .refused
        default:
            let request = cause.chain.first { $0.packet == cause.request }
            if let request, cause.rule != .answersCommand, cause.time - request.time > Self.lateAfter {
                self = .late
                return
            }
            guard let symptom = Self.symptom(packet) else { return nil }
            self = symptom
        }
    }

    /// The channel and the first octet of a PDU that begins in a received data packet.
    private static func head(_ packet: MonitoredPacket) -> (channel: UInt16, code: UInt8)? {
        guard packet.kind == HCIPacket.Kind.acl.rawValue, packet.isReceived, let channel = packet.octets.word(at: 6),
            let code = packet.octets.octet(at: 8)
        else { return nil }
        return (channel, code)
    }

    private static func isError(_ packet: MonitoredPacket) -> Bool {
        head(packet).map { $0 == (0x0004, 0x01) } ?? false
    }

    private static func symptom(_ packet: MonitoredPacket) -> CauseSymptom? {
        switch head(packet) {
        case (0x0004, 0x01)?: .refused
        case (0x0004, 0x1B)?: .value(packet.octets.count == 12 ? packet.octets.octet(at: 11) : nil)
        case (0x0005, 0x12)?: .newParameters
        case (0x0004, let code)? where code > 0x23: .malformed
        default: nil
        }
    }

    /// Whether an act can have this consequence.
    func follows(from act: WorldAct) -> Bool {
        switch act {
        case .begin(let fault) where fault.kind == .lowBattery: self == .value(UInt8(fault.value))
        case .begin(let fault): follows(from: fault.kind)
        case .move, .setNoise, .addWall: self == .lost || self == .late
        case .app: self == .life
        case .end, .removeWall: false
        }
    }

    private func follows(from kind: DeviceFault.Kind) -> Bool {
        switch kind {
        case .outOfRange, .lossy, .jammedChannel, .reboot, .batteryReplaced, .airplaneMode:
            self == .lost || self == .late
        case .slowAnswers, .noAnswers: self == .late
        case .malformedAnswers, .shortAnswers, .longAnswers: self == .malformed || self == .late || self == .refused
        case .attError, .mtuRefused: self == .refused
        case .notificationFlood: if case .value = self { true } else { false }
        case .newFirmware: self == .newTable || self == .lost
        case .parameterFlood: self == .newParameters
        case .lowBattery, .factoryReset, .bondLost, .newAddress, .userDeclines, .appKilled, .appUpgraded, .appSuspended,
            .locked:
            false
        }
    }
}
