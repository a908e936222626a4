import BluetoothTypes
import HCI

/// LL_CS_CAPABILITIES_REQ and LL_CS_CAPABILITIES_RSP (Core Vol 6 Part B 2.4.2).
struct SoundingCapabilityExchange: PacketFields, Hashable {
    var capabilities = LESoundingCapabilities()

    init() {}
    init(_ capabilities: LESoundingCapabilities) { self.capabilities = capabilities }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Mode_Types", &capabilities.modes)
        try coder.field("RTT_Capability", &capabilities.rttCapability)
        try coder.field("RTT_AA_Only_N", &capabilities.rttAccessAddressCount)
        try coder.field("RTT_Sounding_N", &capabilities.rttSoundingCount)
        try coder.field("RTT_Random_Sequence_N", &capabilities.rttRandomCount)
        try coder.field("NADM_Sounding_Capability", &capabilities.nadmSounding)
        try coder.field("NADM_Random_Sequence_Capability", &capabilities.nadmRandom)
        try coder.field("CS_SYNC_PHY_Capability", &capabilities.syncPHYs)
        var antennas = capabilities.antennas & 0xF | capabilities.antennaPaths << 4
        try coder.field("Num_Ant, Max_Ant_Path", &antennas)
        (capabilities.antennas, capabilities.antennaPaths) = (antennas & 0xF, antennas >> 4)
        // The subfeatures have the same order in HCI, from bit 1 on.
        var flags = capabilities.roles.rawValue & 3 | UInt8(truncatingIfNeeded: capabilities.subfeatures & 0xE) << 2
        try coder.field("Role, No_FAE, ChSel3c, Sounding_PCT_Estimate", &flags)
        capabilities.roles = LESoundingRoles(rawValue: flags & 3)
        capabilities.subfeatures = UInt16(flags >> 2 & 0xE)
        try coder.field("Num_Configs", &capabilities.configurations)
        try coder.field("Max_Procedures_Supported", &capabilities.procedures)
        try coder.field("T_SW", &capabilities.switchTime)
        try coder.field("T_IP1_Capability", &capabilities.ip1Times)
        try coder.field("T_IP2_Capability", &capabilities.ip2Times)
        try coder.field("T_FCS_Capability", &capabilities.fcsTimes)
        try coder.field("T_PM_Capability", &capabilities.pmTimes)
        try coder.field("TX_SNR_Capability", &capabilities.txSNR)
    }
}

/// LL_CS_SEC_REQ and LL_CS_SEC_RSP: one device's half of the values from which the random bits are derived.
struct SoundingSecurityExchange: PacketFields, Hashable {
    var vector: UInt64 = 0
    var nonce: UInt32 = 0
    var personalization: UInt64 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("CS_IV", &vector)
        try coder.secret("CS_IN", &nonce)
        try coder.secret("CS_PV", &personalization)
    }
}

/// LL_CS_CONFIG_REQ.
struct SoundingConfigurationRequest: PacketFields, Hashable {
    var config: UInt8 = 0
    var isCreated = false
    /// The configuration from the point of view of the sender, with the sender's role.
    var configuration = LESoundingConfiguration()
    var times = SoundingTimes()

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var head = config & 0x3F | (isCreated ? 0x40 : 0)
        try coder.field("Config_ID, Action", &head)
        (config, isCreated) = (head & 0x3F, head & 0x40 != 0)
        try coder.bytes("ChM", &configuration.channelMap, count: LESoundingConfiguration.mapOctets)
        try coder.field("ChM_Repetition", &configuration.mapRepetition)
        try coder.field("Main_Mode", &configuration.mainMode)
        try coder.field("Sub_Mode", &configuration.subMode)
        try coder.field("Main_Mode_Min_Steps", &configuration.minMainModeSteps)
        try coder.field("Main_Mode_Max_Steps", &configuration.maxMainModeSteps)
        try coder.field("Main_Mode_Repetition", &configuration.mainModeRepetition)
        try coder.field("Mode_0_Steps", &configuration.mode0Steps)
        try coder.field("CS_SYNC_PHY", &configuration.syncPHY)
        var kinds = configuration.rttKind & 0xF | (configuration.role.rawValue & 3) << 4
        try coder.field("RTT_Type, Role", &kinds)
        (configuration.rttKind, configuration.role) = (kinds & 0xF, LESoundingRole(rawValue: kinds >> 4 & 3))
        var selection = configuration.channelSelection & 0xF | configuration.shape << 4
        try coder.field("ChSel, Ch3cShape", &selection)
        (configuration.channelSelection, configuration.shape) = (selection & 0xF, selection >> 4)
        try coder.field("Ch3cJump", &configuration.jump)
        try times.code(&coder)
        var reserved: UInt8 = 0
        try coder.field("RFU", &reserved)
    }
}

/// The times of the steps, as indices into the lists of the specification.
struct SoundingTimes: PacketFields, Hashable {
    var ip1: UInt8 = 0
    var ip2: UInt8 = 0
    var fcs: UInt8 = 0
    var pm: UInt8 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("T_IP1", &ip1)
        try coder.field("T_IP2", &ip2)
        try coder.field("T_FCS", &fcs)
        try coder.field("T_PM", &pm)
    }
}

/// LL_CS_CONFIG_RSP.
struct SoundingConfigurationResponse: PacketFields, Hashable {
    var config: UInt8 = 0

    init() {}
    init(config: UInt8) { self.config = config }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var head = config & 0x3F
        try coder.field("Config_ID", &head)
        config = head & 0x3F
    }
}

/// LL_CS_FAE_RSP: the frequency actuation errors.
struct SoundingErrorTable: PacketFields, Hashable {
    var table: PacketBuffer = []

    init() {}
    init(_ table: PacketBuffer) { self.table = table }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("ChFAE", &table, count: LECSReadRemoteFAETable.tableOctets)
    }
}

/// The part that LL_CS_REQ, LL_CS_RSP and LL_CS_IND have in common: how the subevents lie between connection events.
struct SoundingSubevents: PacketFields, Hashable {
    /// The time between events, in connection intervals.
    var eventInterval: UInt16 = 0
    var perEvent: UInt8 = 0
    /// The time between subevents, in units of 0.625 ms.
    var interval: UInt16 = 0
    /// The duration of a subevent, in microseconds.
    var length: UInt32 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Interval", &eventInterval)
        try coder.field("Subevents_Per_Event", &perEvent)
        try coder.field("Subevent_Interval", &interval)
        try coder.uint24("Subevent_Len", &length)
    }
}

/// The antennas and the power in LL_CS_REQ, LL_CS_RSP and LL_CS_IND.
struct SoundingPower: PacketFields, Hashable {
    var antennaConfiguration: UInt8 = 0
    /// Only in LL_CS_REQ.
    var preferredAntenna: UInt8?
    var phy: UInt8 = 0
    var powerDelta: Int8 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("ACI", &antennaConfiguration)
        if var antenna = preferredAntenna {
            try coder.field("Preferred_Peer_Ant", &antenna)
            preferredAntenna = antenna
        }
        try coder.field("PHY", &phy)
        try coder.field("Pwr_Delta", &powerDelta)
    }
}

/// LL_CS_REQ.
struct SoundingRequest: PacketFields, Hashable {
    var config: UInt8 = 0
    /// The connection event from which the first subevent is counted.
    var event: UInt16 = 0
    /// The range of the time from the anchor point to the first subevent, in microseconds.
    var offsetMin: UInt32 = 0
    var offsetMax: UInt32 = 0
    /// The maximum duration of a procedure, in units of 0.625 ms.
    var maxProcedureLength: UInt16 = 0
    var subevents = SoundingSubevents()
    /// The time between procedures, in connection intervals.
    var procedureInterval: UInt16 = 0
    /// The number of procedures; 0 for no limit.
    var procedureCount: UInt16 = 0
    var power = SoundingPower(preferredAntenna: 0)
    /// The adjustments of the signal-to-noise ratio; 0xF for none.
    var snr: UInt8 = 0

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Config_ID", &config)
        try coder.field("connEventCount", &event)
        try coder.uint24("Offset_Min", &offsetMin)
        try coder.uint24("Offset_Max", &offsetMax)
        try coder.field("Max_Procedure_Len", &maxProcedureLength)
        try subevents.code(&coder)
        try coder.field("Procedure_Interval", &procedureInterval)
        try coder.field("Procedure_Count", &procedureCount)
        try power.code(&coder)
        try coder.field("TX_SNR_I, TX_SNR_R", &snr)
    }
}

/// LL_CS_RSP.
struct SoundingResponse: PacketFields, Hashable {
    var config: UInt8 = 0
    var event: UInt16 = 0
    var offsetMin: UInt32 = 0
    var offsetMax: UInt32 = 0
    var subevents = SoundingSubevents()
    var power = SoundingPower()

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Config_ID", &config)
        try coder.field("connEventCount", &event)
        try coder.uint24("Offset_Min", &offsetMin)
        try coder.uint24("Offset_Max", &offsetMax)
        try subevents.code(&coder)
        try power.code(&coder)
        var reserved: UInt8 = 0
        try coder.field("RFU", &reserved)
    }
}

/// LL_CS_IND.
struct SoundingIndication: PacketFields, Hashable {
    var config: UInt8 = 0
    var event: UInt16 = 0
    /// The time from the anchor point to the first subevent, in microseconds.
    var offset: UInt32 = 0
    var subevents = SoundingSubevents()
    var power = SoundingPower()

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Config_ID", &config)
        try coder.field("connEventCount", &event)
        try coder.uint24("Offset", &offset)
        try subevents.code(&coder)
        try power.code(&coder)
        var reserved: UInt8 = 0
        try coder.field("RFU", &reserved)
    }
}

/// LL_CS_TERMINATE_REQ and LL_CS_TERMINATE_RSP.
struct SoundingTermination: PacketFields, Hashable {
    var config: UInt8 = 0
    /// The number of procedures that were carried out.
    var procedures: UInt16 = 0
    var error = HCIStatus.success

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Config_ID", &config)
        try coder.field("ProcCount", &procedures)
        try coder.field("ErrorCode", &error)
    }
}
