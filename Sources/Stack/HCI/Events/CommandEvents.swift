import BluetoothTypes

/// Answers a command with its return parameters (Core Vol 4 Part E 7.7.14).
package struct CommandComplete: HCIEvent {
    package static let entry = EventEntry(0x0E, "Command Complete")

    /// The number of commands that the controller can accept.
    package var credits: UInt8 = 0
    /// The opcode of the command; ``Opcode/none`` if the event only updates ``credits``.
    package var opcode = Opcode(rawValue: 0)
    /// The unparsed return parameters, whose layout depends on the command.
    package var parameters: PacketBuffer = []

    package init() {}

    package init(credits: UInt8, opcode: Opcode, parameters: PacketBuffer) {
        (self.credits, self.opcode, self.parameters) = (credits, opcode, parameters)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Num_HCI_Command_Packets", &credits)
        try coder.field("Command_Opcode", &opcode)
        try coder.rest("Return_Parameters", &parameters)
        // The layout depends on the command, and there may be a key in the parameters.
        coder.note("Return_Parameters", "\(parameters.count) octets")
    }
}

extension CommandComplete {
    /// Creates an event that answers `command`.
    package init<C: HCICommand>(_ command: C.Type, _ response: C.Response, credits: UInt8 = 1) {
        self.init(credits: credits, opcode: command.opcode, parameters: response.encoded())
    }
}

extension HCICommandRegistry {
    /// Parses the return parameters in a Command Complete event.
    ///
    /// - Returns: The return parameters, or nil if the command is not defined.
    /// - Throws: ``PacketError`` if the return parameters are truncated or malformed.
    package static func decodeResponse(_ event: CommandComplete) throws(PacketError) -> (any HCIResponse)? {
        guard let type = type(for: event.opcode) else { return nil }
        return try response(of: type).reading(event.parameters)
    }
}

/// Answers a command that takes time to execute, or that the controller does not support (Core Vol 4 Part E 7.7.15).
package struct CommandStatus: HCIEvent {
    package static let entry = EventEntry(0x0F, "Command Status")

    /// Success if execution has started, else the error.
    package var status = HCIStatus.success
    /// The number of commands that the controller can accept.
    package var credits: UInt8 = 0
    /// The opcode of the command; ``Opcode/none`` if the event only updates ``credits``.
    package var opcode = Opcode(rawValue: 0)

    package init() {}

    package init(status: HCIStatus = .success, credits: UInt8, opcode: Opcode) {
        (self.status, self.credits, self.opcode) = (status, credits, opcode)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Num_HCI_Command_Packets", &credits)
        try coder.field("Command_Opcode", &opcode)
    }
}
