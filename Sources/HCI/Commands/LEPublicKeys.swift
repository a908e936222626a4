import BluetoothTypes

/// LE Read Local P-256 Public Key (Core Vol 4 Part E 7.8.36): makes the controller draw a new pair of keys. LE
/// Read Local P-256 Public Key Complete follows.
package struct LEReadLocalP256PublicKey: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0025) }
    /// The command's name.
    package static var name: String { "LE Read Local P-256 Public Key" }
    /// Command Status answers.
    package static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 34, bit: 1) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Generate DHKey [v1] (Core Vol 4 Part E 7.8.37): computes a shared secret with the controller's private key.
/// LE Generate DHKey Complete follows.
package struct LEGenerateDHKey: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0026) }
    /// The command's name.
    package static var name: String { "LE Generate DHKey [v1]" }
    /// Command Status answers.
    package static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 34, bit: 2) }

    /// The peer's x coordinate, 32 octets, least significant first.
    package var x: PacketBuffer = []
    /// The peer's y coordinate, 32 octets, least significant first.
    package var y: PacketBuffer = []

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(x: PacketBuffer, y: PacketBuffer) {
        self.x = x
        self.y = y
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Key_X_Coordinate", &x, count: 32)
        try coder.bytes("Key_Y_Coordinate", &y, count: 32)
    }
}

/// LE Generate DHKey [v2] (Core Vol 4 Part E 7.8.37): computes a shared secret with a private key of the
/// controller. LE Generate DHKey Complete follows.
package struct LEGenerateDHKeyV2: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x005E) }
    /// The command's name.
    package static var name: String { "LE Generate DHKey [v2]" }
    /// Command Status answers.
    package static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 41, bit: 2) }

    /// The peer's x coordinate, 32 octets, least significant first.
    package var x: PacketBuffer = []
    /// The peer's y coordinate, 32 octets, least significant first.
    package var y: PacketBuffer = []
    /// Which private key to use.
    package var keyKind = LEPrivateKeyKind(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(x: PacketBuffer, y: PacketBuffer, keyKind: LEPrivateKeyKind) {
        self.x = x
        self.y = y
        self.keyKind = keyKind
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Key_X_Coordinate", &x, count: 32)
        try coder.bytes("Key_Y_Coordinate", &y, count: 32)
        try coder.field("Key_Type", &keyKind)
    }
}
