import BluetoothTypes
import HCI

/// A controller that advertises, scans or initiates, and cannot do two of these at once, whatever it says (Core Vol 4 Part E
/// 7.8.27).
struct QuirkRoles {
    private enum Role: CaseIterable {
        case advertising
        case scanning
        case initiating
    }

    private var underWay: Set<Role> = []
    /// What the command that is being answered begins.
    private var beginning: (opcode: Opcode, role: Role)?

    /// Whether the controller takes a command.
    mutating func admit(_ command: CommandPacket) -> Bool {
        guard let (role, isBeginning) = Self.role(of: command) else { return true }
        guard isBeginning else {
            underWay.remove(role)
            return true
        }
        guard underWay.subtracting([role]).isEmpty else { return false }
        beginning = (command.opcode, role)
        underWay.insert(role)
        return true
    }

    /// Takes note of what has begun after all, or ended.
    mutating func note(_ event: EventPacket) {
        switch (event.code, event.subevent) {
        case (CommandComplete.eventCode, nil):
            guard let event = try? CommandComplete.reading(event.parameters) else { return }
            answered(event.opcode, isRefused: event.parameters.first != 0)
        case (CommandStatus.eventCode, nil):
            guard let event = try? CommandStatus.reading(event.parameters) else { return }
            answered(event.opcode, isRefused: event.status != .success)
        case (.leMeta, LEAdvertisingSetTerminated.leSubevent): underWay.remove(.advertising)
        case (.leMeta, LEScanTimeout.leSubevent): underWay.remove(.scanning)
        case (.leMeta, LEConnectionComplete.leSubevent), (.leMeta, LEEnhancedConnectionComplete.leSubevent),
            (.leMeta, LEEnhancedConnectionCompleteV2.leSubevent):
            // Status, handle and role come first in all forms.
            let parameters = event.eventParameters
            guard parameters.count > 3 else { return }
            let isPeripheral = parameters[0] == 0 && parameters[3] == LERole.peripheral.rawValue
            underWay.remove(isPeripheral ? .advertising : .initiating)
        default: break
        }
    }

    private mutating func answered(_ opcode: Opcode, isRefused: Bool) {
        guard let (asked, role) = beginning, asked == opcode else { return }
        beginning = nil
        if isRefused { underWay.remove(role) }
    }

    /// Which role a command begins or ends.
    private static func role(of command: CommandPacket) -> (Role, isBeginning: Bool)? {
        let isOn = command.parameters.first == 1
        return switch command.opcode {
        case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode: (.advertising, isOn)
        case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: (.scanning, isOn)
        case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: (.initiating, true)
        default: nil
        }
    }
}
