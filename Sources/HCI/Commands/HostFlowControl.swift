import BluetoothTypes

/// Set Controller To Host Flow Control (Core Vol 4 Part E 7.3.38): tells the controller to send the host no more
/// data than it has room for.
public struct SetControllerToHostFlowControl: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x03, command: 0x0031) }
    /// The command's name.
    public static var name: String { "Set Controller To Host Flow Control" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 5) }

    /// The data that are to wait for room.
    public var kinds: HostFlowControl = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(kinds: HostFlowControl) {
        self.kinds = kinds
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Flow_Control_Enable", &kinds)
    }
}

/// Host Buffer Size (Core Vol 4 Part E 7.3.39): tells the controller how much data the host has room for.
public struct HostBufferSize: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x03, command: 0x0033) }
    /// The command's name.
    public static var name: String { "Host Buffer Size" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 6) }

    /// The longest ACL payload that the host takes, in octets.
    public var aclDataPacketLength: UInt16 = 0
    /// The longest synchronous payload that the host takes, in octets.
    public var synchronousDataPacketLength: UInt8 = 0
    /// How many ACL packets the host has room for.
    public var totalACLDataPackets: UInt16 = 0
    /// How many synchronous packets the host has room for.
    public var totalSynchronousDataPackets: UInt16 = 0

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(
        aclDataPacketLength: UInt16,
        synchronousDataPacketLength: UInt8,
        totalACLDataPackets: UInt16,
        totalSynchronousDataPackets: UInt16
    ) {
        self.aclDataPacketLength = aclDataPacketLength
        self.synchronousDataPacketLength = synchronousDataPacketLength
        self.totalACLDataPackets = totalACLDataPackets
        self.totalSynchronousDataPackets = totalSynchronousDataPackets
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Host_ACL_Data_Packet_Length", &aclDataPacketLength)
        try coder.field("Host_Synchronous_Data_Packet_Length", &synchronousDataPacketLength)
        try coder.field("Host_Total_Num_ACL_Data_Packets", &totalACLDataPackets)
        try coder.field("Host_Total_Num_Synchronous_Data_Packets", &totalSynchronousDataPackets)
    }
}

/// Host Number Of Completed Packets (Core Vol 4 Part E 7.3.40): tells the controller that the host has room
/// again. It may be sent at any time, and nothing answers it unless it is wrong.
public struct HostNumberOfCompletedPackets: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x03, command: 0x0035) }
    /// The command's name.
    public static var name: String { "Host Number Of Completed Packets" }
    /// Nothing answers it.
    public static var isUnanswered: Bool { true }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 7) }

    /// Each connection with how many packets the host is done with.
    public var entries: [CompletedPackets] = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(entries: [CompletedPackets]) {
        self.entries = entries
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("Num_Handles", "Handle", &entries)
    }
}
