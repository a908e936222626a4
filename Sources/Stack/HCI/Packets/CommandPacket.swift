import BluetoothTypes

/// The frame of a command: its opcode and its unparsed parameters (Core Vol 4 Part E 5.4.1).
package struct CommandPacket: PacketFields, Hashable, Sendable {
    /// The opcode, which determines the layout of the parameters.
    package var opcode = Opcode.none
    /// The parameters, at most 255 octets.
    package var parameters: PacketBuffer = []

    /// Creates a frame without a command.
    package init() {}
    package init(opcode: Opcode, parameters: PacketBuffer) { (self.opcode, self.parameters) = (opcode, parameters) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Opcode", &opcode)
        try coder.countedBytes("Parameters", &parameters)
        // The parameters are unparsed and may contain a key.
        coder.note("Parameters", "\(parameters.count) octets")
    }
}
