import BluetoothTypes

/// Disconnect (Core Vol 4 Part E 7.1.6): ends a connection. Disconnection Complete follows.
public struct Disconnect: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x01, command: 0x0006) }
    /// The command's name.
    public static var name: String { "Disconnect" }
    /// Command Status answers.
    public static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 0, bit: 5) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)
    /// What the peer is told: one of 0x05, 0x13 to 0x15, 0x1A, 0x29, 0x3B.
    public var reason = HCIStatus.success

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle, reason: HCIStatus) {
        self.handle = handle
        self.reason = reason
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Reason", &reason)
    }
}

/// Read Remote Version Information (Core Vol 4 Part E 7.1.23): asks a peer for its version. Read Remote Version
/// Information Complete follows.
public struct ReadRemoteVersionInformation: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x01, command: 0x001D) }
    /// The command's name.
    public static var name: String { "Read Remote Version Information" }
    /// Command Status answers.
    public static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 2, bit: 7) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle) {
        self.handle = handle
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}
