import BluetoothTypes

/// Which commands a controller knows: 64 octets of bits (Core Vol 4 Part E 6.27). Each ``HCICommand`` names its bit.
package struct SupportedCommands: PacketFields, Hashable, Sendable {
    /// A place among the bits.
    package struct Bit: Hashable, Sendable {
        /// The octet, 0 to 63.
        package var octet: Int
        /// The bit in the octet, 0 to 7.
        package var bit: Int

        /// The bit of an octet, as the specification's table lists them.
        package init(octet: Int, bit: Int) {
            self.octet = octet
            self.bit = bit
        }
    }

    /// Octets on the wire.
    package static let size = 64

    private var octets = PacketBuffer([UInt8](repeating: 0, count: size))

    /// No command at all.
    package init() {}

    /// The given commands.
    package init(_ commands: [any HCICommand.Type]) {
        for command in commands {
            if let bit = command.supportBit { insert(bit) }
        }
    }

    /// Whether the controller knows the command at `bit`.
    package func contains(_ bit: Bit) -> Bool {
        octets.indices.contains(bit.octet) && octets[bit.octet] >> bit.bit & 1 == 1
    }

    /// Whether the controller knows the command. A command without a bit counts as known.
    package func contains(_ command: any HCICommand.Type) -> Bool {
        command.supportBit.map { contains($0) } ?? true
    }

    /// Adds a command.
    package mutating func insert(_ bit: Bit) {
        guard octets.indices.contains(bit.octet) else { return }
        octets[bit.octet] |= 1 << UInt8(truncatingIfNeeded: bit.bit)
    }

    /// Takes a command away.
    package mutating func remove(_ command: any HCICommand.Type) {
        guard let bit = command.supportBit, octets.indices.contains(bit.octet) else { return }
        octets[bit.octet] &= ~(1 << UInt8(truncatingIfNeeded: bit.bit))
    }

    /// Names the field.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Supported_Commands", &octets, count: Self.size)
        let value = self
        coder.note("Supported_Commands", "\(value.names)")
    }

    /// The names of the commands in the set that this host has names for.
    private var names: [String] {
        HCICommandRegistry.all.compactMap { command in
            command.supportBit.map { contains($0) } ?? false ? command.name : nil
        }
    }
}
