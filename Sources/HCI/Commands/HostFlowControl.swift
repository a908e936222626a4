import BluetoothTypes

/// Set Controller To Host Flow Control (Core Vol 4 Part E 7.3.38): whether the controller waits for room at the host.
package struct SetControllerToHostFlowControl: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0031) }
    package static var name: String { "Set Controller To Host Flow Control" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 5) }

    /// For what: bit 0 for ACL data, bit 1 for synchronous data.
    package var kinds: UInt8 = 0

    package init() {}

    package init(kinds: UInt8) {
        self.kinds = kinds
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Flow_Control_Enable", &kinds)
    }
}

/// Host Buffer Size (Core Vol 4 Part E 7.3.39): what the host has room for.
package struct HostBufferSize: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0033) }
    package static var name: String { "Host Buffer Size" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 6) }

    /// The longest data of an ACL packet, in octets.
    package var aclLength: UInt16 = 0
    /// The longest data of a synchronous packet, in octets.
    package var synchronousLength: UInt8 = 0
    /// ACL packets that have room.
    package var aclCount: UInt16 = 0
    /// Synchronous packets that have room.
    package var synchronousCount: UInt16 = 0

    package init() {}

    package init(aclLength: UInt16, synchronousLength: UInt8 = 0, aclCount: UInt16, synchronousCount: UInt16 = 0) {
        self.aclLength = aclLength
        self.synchronousLength = synchronousLength
        self.aclCount = aclCount
        self.synchronousCount = synchronousCount
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Host_ACL_Data_Packet_Length", &aclLength)
        try coder.field("Host_Synchronous_Data_Packet_Length", &synchronousLength)
        try coder.field("Host_Total_Num_ACL_Data_Packets", &aclCount)
        try coder.field("Host_Total_Num_Synchronous_Data_Packets", &synchronousCount)
    }
}

/// Host Number Of Completed Packets (Core Vol 4 Part E 7.3.40): packets that the host has done with. It is answered only
/// when something is wrong with it, and needs no credit.
package struct HostNumberOfCompletedPackets: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x03, command: 0x0035) }
    package static var name: String { "Host Number Of Completed Packets" }
    /// Nothing answers it, unless it is wrong.
    package static var isUnanswered: Bool { true }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 10, bit: 7) }

    /// Packets of each connection.
    package var entries: [CompletedPackets] = []

    /// A command about no connection.
    package init() {}

    package init(entries: [CompletedPackets]) {
        self.entries = entries
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("Num_Handles", "Connection", &entries)
    }
}
