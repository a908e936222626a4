import BluetoothTypes

/// The commands that a controller supports, a bitmap of 64 octets (Core Vol 4 Part E 6.27). ``HCICommand/supportBit``
/// is the bit of a command.
package struct SupportedCommands: PacketFields, Hashable, Sendable {
    /// The position of a bit.
    package struct Bit: Hashable, Sendable {
        /// The octet, 0 to 63.
        package var octet: Int
        /// The bit in the octet, 0 to 7.
        package var bit: Int

        package init(octet: Int, bit: Int) { (self.octet, self.bit) = (octet, bit) }
    }

    /// The length of the bitmap, in octets.
    package static let size = 64

    private var octets = PacketBuffer([UInt8](repeating: 0, count: size))

    package init() {}

    package init(_ commands: [any HCICommand.Type]) {
        for command in commands {
            if let bit = command.supportBit { insert(bit) }
        }
    }

    package func contains(_ bit: Bit) -> Bool {
        octets.indices.contains(bit.octet) && octets[bit.octet] >> bit.bit & 1 == 1
    }

    /// Returns whether the controller supports a command. A command without a bit counts as supported.
    package func contains(_ command: any HCICommand.Type) -> Bool {
        command.supportBit.map { contains($0) } ?? true
    }

    /// Adds the command with this bit. Ignores bits beyond the bitmap.
    package mutating func insert(_ bit: Bit) {
        guard octets.indices.contains(bit.octet) else { return }
        octets[bit.octet] |= 1 << UInt8(truncatingIfNeeded: bit.bit)
    }

    /// Removes a command. Does nothing if the command has no bit.
    package mutating func remove(_ command: any HCICommand.Type) {
        guard let bit = command.supportBit, octets.indices.contains(bit.octet) else { return }
        octets[bit.octet] &= ~(1 << UInt8(truncatingIfNeeded: bit.bit))
    }

    /// Codes the bitmap. Printed output lists the names of the commands.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Supported_Commands", &octets, count: Self.size)
        let value = self
        coder.note("Supported_Commands", "\(value.names)")
    }

    /// The names of the commands in the set that this module defines.
    private var names: [String] {
        HCICommandRegistry.all.compactMap { command in
            command.supportBit.map { contains($0) } ?? false ? command.name : nil
        }
    }
}
