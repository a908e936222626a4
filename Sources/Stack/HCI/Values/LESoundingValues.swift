import BluetoothTypes

/// The role of a device in Channel Sounding (Core Vol 6 Part H 1).
package struct LESoundingRole: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device that sends first in each step.
    package static let initiator = LESoundingRole(rawValue: 0)
    /// The device that answers.
    package static let reflector = LESoundingRole(rawValue: 1)

    package static let names = ["initiator", "reflector"]
}

/// The Channel Sounding roles that a controller supports or a host has enabled (Core Vol 4 Part E 7.8.130, 7.8.134).
package struct LESoundingRoles: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let initiator = bit(0)
    package static let reflector = bit(1)

    package static let names: [(flag: LESoundingRoles, name: String)] = [
        (.initiator, "initiator"), (.reflector, "reflector"),
    ]
}

/// The Channel Sounding capabilities of a controller (Core Vol 4 Part E 7.8.130).
package struct LESoundingCapabilities: PacketFields, Hashable, Sendable {
    /// The number of configurations per link, 1 to 4.
    package var configurations: UInt8 = 0
    /// The number of procedures in a row; 0 for any number.
    package var procedures: UInt16 = 0
    /// The number of antennas, 1 to 4.
    package var antennas: UInt8 = 0
    /// The number of antenna paths, 1 to 4.
    package var antennaPaths: UInt8 = 0
    package var roles: LESoundingRoles = []
    /// Bit 0: mode 3 is supported. Modes 0, 1 and 2 are mandatory.
    package var modes: UInt8 = 0
    /// Bits 0 to 2: an RTT precision of 10 ns rather than 150 ns, for each kind of sequence.
    package var rttCapability: UInt8 = 0
    /// The number of steps for the precision with the access address alone; 0 if unsupported. The same for the next two.
    package var rttAccessAddressCount: UInt8 = 0
    package var rttSoundingCount: UInt8 = 0
    package var rttRandomCount: UInt8 = 0
    package var nadmSounding: UInt16 = 0
    package var nadmRandom: UInt16 = 0
    /// The optional PHYs of CS_SYNC: bit 1 for LE 2M, bit 2 for LE 2M 2BT.
    package var syncPHYs: UInt8 = 0
    /// Bit 1: no frequency actuation error. Bit 2: channel selection algorithm #3c. Bit 3: phase estimates of RTT.
    package var subfeatures: UInt16 = 0
    package var ip1Times: UInt16 = 0
    package var ip2Times: UInt16 = 0
    package var fcsTimes: UInt16 = 0
    package var pmTimes: UInt16 = 0
    /// The time of an antenna switch, in microseconds.
    package var switchTime: UInt8 = 0
    package var txSNR: UInt8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Num_Config_Supported", &configurations)
        try coder.field("Max_Consecutive_Procedures_Supported", &procedures)
        try coder.field("Num_Antennas_Supported", &antennas)
        try coder.field("Max_Antenna_Paths_Supported", &antennaPaths)
        try coder.field("Roles_Supported", &roles)
        try coder.field("Modes_Supported", &modes)
        try coder.field("RTT_Capability", &rttCapability)
        try coder.field("RTT_AA_Only_N", &rttAccessAddressCount)
        try coder.field("RTT_Sounding_N", &rttSoundingCount)
        try coder.field("RTT_Random_Sequence_N", &rttRandomCount)
        try coder.field("NADM_Sounding_Capability", &nadmSounding)
        try coder.field("NADM_Random_Capability", &nadmRandom)
        try coder.field("CS_SYNC_PHYs_Supported", &syncPHYs)
        try coder.field("Subfeatures_Supported", &subfeatures)
        try coder.field("T_IP1_Times_Supported", &ip1Times)
        try coder.field("T_IP2_Times_Supported", &ip2Times)
        try coder.field("T_FCS_Times_Supported", &fcsTimes)
        try coder.field("T_PM_Times_Supported", &pmTimes)
        try coder.field("T_SW_Time_Supported", &switchTime)
        try coder.field("TX_SNR_Capability", &txSNR)
    }
}

/// The part of a Channel Sounding configuration that the host chooses (Core Vol 4 Part E 7.8.137).
package struct LESoundingConfiguration: PacketFields, Hashable, Sendable {
    /// The submode of configurations without one.
    package static let noSubMode: UInt8 = 0xFF
    /// The length of a channel map, in octets.
    package static let mapOctets = 10

    /// The mode of most steps: 1, 2 or 3.
    package var mainMode: UInt8 = 0
    /// The mode of the steps in between; ``noSubMode`` for none.
    package var subMode: UInt8 = 0
    /// The minimum and maximum number of main mode steps before a submode step.
    package var minMainModeSteps: UInt8 = 0
    package var maxMainModeSteps: UInt8 = 0
    /// How many main mode steps of the previous subevent are repeated in the next one, 0 to 3.
    package var mainModeRepetition: UInt8 = 0
    /// The number of mode 0 steps at the start of each subevent, 1 to 3.
    package var mode0Steps: UInt8 = 0
    package var role = LESoundingRole.initiator
    /// The kind of sequence after the access address: 0 for none.
    package var rttKind: UInt8 = 0
    /// The PHY of CS_SYNC: 1 for LE 1M, 2 for LE 2M.
    package var syncPHY: UInt8 = 0
    /// The channels 0 to 78, the lowest in bit 0 of the first octet.
    package var channelMap: PacketBuffer = []
    /// How often the channels are used in a procedure.
    package var mapRepetition: UInt8 = 0
    /// The channel selection algorithm: 0 for #3b, 1 for #3c.
    package var channelSelection: UInt8 = 0
    package var shape: UInt8 = 0
    package var jump: UInt8 = 0
    private var reserved: UInt8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Main_Mode_Type", &mainMode)
        try coder.field("Sub_Mode_Type", &subMode)
        try coder.field("Min_Main_Mode_Steps", &minMainModeSteps)
        try coder.field("Max_Main_Mode_Steps", &maxMainModeSteps)
        try coder.field("Main_Mode_Repetition", &mainModeRepetition)
        try coder.field("Mode_0_Steps", &mode0Steps)
        try coder.field("Role", &role)
        try coder.field("RTT_Type", &rttKind)
        try coder.field("CS_SYNC_PHY", &syncPHY)
        try coder.bytes("Channel_Map", &channelMap, count: Self.mapOctets)
        try coder.field("Channel_Map_Repetition", &mapRepetition)
        try coder.field("Channel_Selection_Type", &channelSelection)
        try coder.field("Ch3c_Shape", &shape)
        try coder.field("Ch3c_Jump", &jump)
        try coder.field("Reserved", &reserved)
    }
}

/// How far a Channel Sounding procedure or subevent has come (Core Vol 4 Part E 7.7.65.44).
package struct LESoundingDoneStatus: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let complete = LESoundingDoneStatus(rawValue: 0x0)
    /// Further results follow.
    package static let partial = LESoundingDoneStatus(rawValue: 0x1)
    package static let aborted = LESoundingDoneStatus(rawValue: 0xF)

    package var description: String {
        switch self {
        case .complete: "complete"
        case .partial: "partial"
        case .aborted: "aborted"
        default: "0x" + String(rawValue, radix: 16)
        }
    }
}

/// The state of results, as it ends LE CS Subevent Result and its continuations.
package struct LESoundingProgress: PacketFields, Hashable, Sendable {
    package var procedure = LESoundingDoneStatus.complete
    package var subevent = LESoundingDoneStatus.complete
    /// The reasons for an abort: of the procedure in bits 0 to 3, of the subevent in bits 4 to 7.
    package var abortReason: UInt8 = 0

    /// The abort reason of a subevent without a received CS_SYNC.
    package static let noSync: UInt8 = 0x2 << 4
    /// The abort reason of a subevent for which the radio had no time.
    package static let conflict: UInt8 = 0x3 << 4

    package init() {}

    package init(procedure: LESoundingDoneStatus, subevent: LESoundingDoneStatus, abortReason: UInt8 = 0) {
        (self.procedure, self.subevent, self.abortReason) = (procedure, subevent, abortReason)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Procedure_Done_Status", &procedure)
        try coder.field("Subevent_Done_Status", &subevent)
        try coder.field("Abort_Reason", &abortReason)
    }
}
