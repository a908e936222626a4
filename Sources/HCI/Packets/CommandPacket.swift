import BluetoothTypes

/// The frame of a command: its number and its parameters, not looked into (Core Vol 4 Part E 5.4.1).
package struct CommandPacket: PacketFields, Hashable, Sendable {
    /// The command.
    package var opcode = Opcode.none
    /// The parameters, 255 octets at most.
    package var parameters: PacketBuffer = []

    /// No command, no parameters.
    package init() {}

    /// A command with its parameters.
    package init(opcode: Opcode, parameters: PacketBuffer) {
        self.opcode = opcode
        self.parameters = parameters
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Opcode", &opcode)
        try coder.countedBytes("Parameters", &parameters)
        // There may be a key among them; nobody has looked.
        coder.note("Parameters", "\(parameters.count) octets")
    }

    /// What ``PacketPrinter`` shows of it.
    package var description: String { PacketPrinter.describe(HCIPacket(.command, encoded())) }
}

extension HCIPacket {
    /// Frames a command.
    ///
    /// - Precondition: The parameters fit 255 octets.
    @inlinable
    package init(_ command: some HCICommand) {
        var bytes = command.encoded()
        precondition(bytes.count <= 255, "\(type(of: command).name) with \(bytes.count) octets of parameters")
        bytes.prepend(UInt8(truncatingIfNeeded: bytes.count))
        bytes.prepend(integer: type(of: command).opcode.rawValue)
        self.init(.command, bytes)
    }
}
