import BluetoothTypes

/// The frame of a command: its opcode and its unparsed parameters (Core Vol 4 Part E 5.4.1).
package struct CommandPacket: PacketFields, Hashable, Sendable {
    /// The opcode.
    package var opcode = Opcode.none
    /// The parameters, at most 255 octets.
    package var parameters: PacketBuffer = []

    /// Creates a frame without a command.
    package init() {}

    package init(opcode: Opcode, parameters: PacketBuffer) {
        self.opcode = opcode
        self.parameters = parameters
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Opcode", &opcode)
        try coder.countedBytes("Parameters", &parameters)
        // The parameters are unparsed and may contain a key.
        coder.note("Parameters", "\(parameters.count) octets")
    }

    /// The output of ``PacketPrinter``.
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
