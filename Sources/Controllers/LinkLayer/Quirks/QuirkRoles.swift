import BluetoothTypes
import HCI

/// The state of a controller that can advertise, scan or initiate, but do only one of these at a time, whatever it
/// claims (Core Vol 4 Part E 7.8.27).
struct QuirkRoles {
    private enum Role: CaseIterable {
        case advertising
        case scanning
        case initiating
    }

    private var underWay: Set<Role> = []
    /// The role that the pending command starts.
    private var beginning: (opcode: Opcode, role: Role)?

    /// Whether the controller accepts a command.
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

    /// Tracks which roles have started or ended.
    mutating func note(_ event: EventPacket) {
        switch (event.code, event.subevent) {
        case (CommandComplete.eventCode, nil):
            guard let event = try? CommandComplete.reading(event.parameters) else { return }
            answered(event.opcode, isRefused: event.parameters.first != 0)
        case (CommandStatus.eventCode, nil):
            guard let event = try? CommandStatus.reading(event.parameters) else { return }
            answered(event.opcode, isRefused: event.status != .success)
        case (.leMeta, LEAdvertisingSetTerminated.subevent): underWay.remove(.advertising)
        case (.leMeta, LEScanTimeout.subevent): underWay.remove(.scanning)
        case (.leMeta, LEConnectionComplete.subevent), (.leMeta, LEEnhancedConnectionComplete.subevent),
            (.leMeta, LEEnhancedConnectionCompleteV2.subevent):
            // Status, handle and role come first in all versions of the event.
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

    /// The role that a command starts or ends.
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
