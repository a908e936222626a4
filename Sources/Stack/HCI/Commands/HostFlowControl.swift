import BluetoothTypes

/// Selects whether the controller waits for free host buffers (Core Vol 4 Part E 7.3.38).
package struct SetControllerToHostFlowControl: HCICommand {
    package static let entry = CommandEntry(.baseband, 0x31, "Set Controller To Host Flow Control", bit: (10, 5))

    /// The types of data under flow control: bit 0 for ACL data, bit 1 for synchronous data.
    package var kinds: UInt8 = 0

    package init() {}
    package init(kinds: UInt8) { self.kinds = kinds }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Flow_Control_Enable", &kinds)
    }
}

/// Announces the host's buffers (Core Vol 4 Part E 7.3.39).
package struct HostBufferSize: HCICommand {
    package static let entry = CommandEntry(.baseband, 0x33, "Host Buffer Size", bit: (10, 6))

    /// The maximum length of ACL data in a packet, in octets.
    package var aclLength: UInt16 = 0
    /// The maximum length of synchronous data in a packet, in octets.
    package var synchronousLength: UInt8 = 0
    /// The number of ACL data packets that the host can buffer.
    package var aclCount: UInt16 = 0
    /// The number of synchronous data packets that the host can buffer.
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

/// Reports packets that the host has consumed (Core Vol 4 Part E 7.3.40). The controller answers it only on error, and
/// it requires no command credit.
package struct HostNumberOfCompletedPackets: HCICommand {
    package static let entry = CommandEntry(
        .baseband,
        0x35,
        "Host Number Of Completed Packets",
        bit: (10, 7),
        .errorsOnly
    )

    package var entries: [CompletedPackets] = []

    package init() {}
    package init(entries: [CompletedPackets]) { self.entries = entries }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("Num_Handles", "Connection", &entries)
    }
}
