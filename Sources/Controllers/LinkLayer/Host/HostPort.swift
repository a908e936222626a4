import BluetoothTypes
import HCI

/// The controller's output to its host. It filters events by the host's event masks.
final class HostPort {
    /// Num_HCI_Command_Packets: each command is carried out before the next one is read.
    static let credits: UInt8 = 1

    /// The mask set by Set Event Mask.
    private(set) var mask = EventMask.initial
    /// The mask set by Set Event Mask Page 2.
    private(set) var maskPage2: EventMaskPage2 = []
    /// The mask set by LE Set Event Mask.
    private(set) var leMask = LEEventMask.initial

    private let transport: any HCITransport
    // Events sent while a command is carried out. They follow the command's answer.
    private var held: [HCIPacket]?

    init(transport: any HCITransport) {
        self.transport = transport
    }

    /// Restores the masks that apply after a reset.
    func reset() {
        mask = .initial
        maskPage2 = []
        leMask = .initial
    }

    func apply(_ command: SetEventMask) {
        mask = command.mask
    }

    func apply(_ command: SetEventMaskPage2) {
        maskPage2 = command.mask
    }

    func apply(_ command: LESetEventMask) {
        leMask = command.mask
    }

    /// Sends an event unless the host has masked it (Core Vol 4 Part E 7.3.1, 7.3.69, 7.8.1).
    func send<E: HCIEvent>(_ event: E) {
        guard isWanted(E.self) else { return }
        pass(HCIPacket(event))
    }

    func send(_ packet: ACLPacket) {
        pass(HCIPacket(packet))
    }

    /// Runs `body`, which carries out a command, and sends its answer before any event it raises.
    func answering(_ body: () -> HCIPacket?) {
        held = []
        let answer = body()
        let events = held ?? []
        held = nil
        if let answer { transport.send(answer) }
        for event in events { transport.send(event) }
    }

    /// Whether the host's masks let an event through.
    func isWanted<E: HCIEvent>(_ event: E.Type) -> Bool {
        let code = E.eventCode.rawValue
        switch code {
        // Command Complete, Command Status and Number Of Completed Packets cannot be masked.
        case 0x0E, 0x0F, 0x13: return true
        case 0x3E: return mask.contains(.leMeta) && (E.subevent.map(leMask.allows) ?? true)
        case 0x01...0x3F: return mask.rawValue >> UInt64(code - 1) & 1 == 1
        case 0x40...0x7F: return maskPage2.rawValue >> UInt64(code - 0x40) & 1 == 1
        default: return true
        }
    }

    private func pass(_ packet: HCIPacket) {
        if held == nil { transport.send(packet) } else { held?.append(packet) }
    }
}

/// The legacy and the extended command sets for advertising, scanning and initiating. After the first command of one
/// set, those of the other are disallowed until the next reset (Core Vol 4 Part E 3.1.1).
enum AdvertisingCommandSet {
    /// No command of either set has been used; or a command that belongs to neither.
    case none
    case legacy
    case extended

    /// Whether a command of this set is allowed. If so, the other set is disallowed from now on.
    mutating func admit(_ commands: AdvertisingCommandSet) -> Bool {
        guard commands != .none else { return true }
        if self == .none { self = commands }
        return self == commands
    }
}
