import BluetoothTypes

/// Reads the Channel Sounding capabilities of the controller (Core Vol 4 Part E 7.8.130).
package struct LECSReadLocalSupportedCapabilities: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var capabilities = LESoundingCapabilities()

        package init() {}
        package init(_ capabilities: LESoundingCapabilities) { self.capabilities = capabilities }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try capabilities.code(&coder)
        }
    }

    package static let entry = CommandEntry(.le, 0x89, "LE CS Read Local Supported Capabilities", bit: (20, 5))

    package init() {}
}

/// Asks a peer for its Channel Sounding capabilities (Core Vol 4 Part E 7.8.131). LE CS Read Remote Supported
/// Capabilities Complete follows.
package struct LECSReadRemoteSupportedCapabilities: LinkCommand {
    package static let entry = CommandEntry(
        .le,
        0x8A,
        "LE CS Read Remote Supported Capabilities",
        bit: (20, 6),
        .status
    )

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Restores the capabilities of a peer from an earlier connection (Core Vol 4 Part E 7.8.132).
package struct LECSWriteCachedRemoteSupportedCapabilities: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(
        .le,
        0x8B,
        "LE CS Write Cached Remote Supported Capabilities",
        bit: (20, 7)
    )

    package var handle = ConnectionHandle(rawValue: 0)
    package var capabilities = LESoundingCapabilities()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try capabilities.code(&coder)
    }
}

/// Starts the security of Channel Sounding on an encrypted link (Core Vol 4 Part E 7.8.133). LE CS Security Enable
/// Complete follows.
package struct LECSSecurityEnable: LinkCommand {
    package static let entry = CommandEntry(.le, 0x8C, "LE CS Security Enable", bit: (24, 1), .status)

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Enables roles on a link (Core Vol 4 Part E 7.8.134).
package struct LECSSetDefaultSettings: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x8D, "LE CS Set Default Settings", bit: (24, 7))

    package var handle = ConnectionHandle(rawValue: 0)
    package var roles: LESoundingRoles = []
    /// The antenna of CS_SYNC, 1 to 4; 0xFE for all in turn, 0xFF for any.
    package var syncAntenna: UInt8 = 0
    /// The maximum transmit power in dBm, -127 to 20.
    package var maxTxPower: Int8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Role_Enable", &roles)
        try coder.field("CS_SYNC_Antenna_Selection", &syncAntenna)
        try coder.field("Max_TX_Power", &maxTxPower)
    }
}

/// Asks a peer for its frequency actuation errors (Core Vol 4 Part E 7.8.135). LE CS Read Remote FAE Table Complete
/// follows.
package struct LECSReadRemoteFAETable: LinkCommand {
    package static let entry = CommandEntry(.le, 0x8E, "LE CS Read Remote FAE Table", bit: (12, 2), .status)
    /// The length of the table, in octets: one for each channel.
    package static let tableOctets = 72

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Restores the table of a peer from an earlier connection (Core Vol 4 Part E 7.8.136).
package struct LECSWriteCachedRemoteFAETable: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x8F, "LE CS Write Cached Remote FAE Table", bit: (12, 3))

    package var handle = ConnectionHandle(rawValue: 0)
    /// The errors in units of 1/32 ppm, 72 octets.
    package var table: PacketBuffer = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.bytes("Remote_FAE_Table", &table, count: LECSReadRemoteFAETable.tableOctets)
    }
}

/// Creates a configuration, here or at both ends (Core Vol 4 Part E 7.8.137). LE CS Config Complete follows.
package struct LECSCreateConfig: HCICommand {
    package static let entry = CommandEntry(.le, 0x90, "LE CS Create Config", bit: (16, 6), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    /// The identifier of the configuration, 0 to 3.
    package var config: UInt8 = 0
    /// Whether the peer gets the configuration too.
    package var isForBoth = false
    package var configuration = LESoundingConfiguration()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("Create_Context", &isForBoth)
        try configuration.code(&coder)
    }
}

/// Removes a configuration at both ends (Core Vol 4 Part E 7.8.138). LE CS Config Complete follows.
package struct LECSRemoveConfig: HCICommand {
    package static let entry = CommandEntry(.le, 0x91, "LE CS Remove Config", bit: (16, 7), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0

    package init() {}
    package init(handle: ConnectionHandle, config: UInt8) { (self.handle, self.config) = (handle, config) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
    }
}

/// Sets the channels that Channel Sounding may use (Core Vol 4 Part E 7.8.139).
package struct LECSSetChannelClassification: HCICommand {
    package static let entry = CommandEntry(.le, 0x92, "LE CS Set Channel Classification", bit: (29, 0))

    /// The channels that are not known to be bad, 10 octets.
    package var channels: PacketBuffer = []

    package init() {}
    package init(channels: PacketBuffer) { self.channels = channels }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Channel_Classification", &channels, count: LESoundingConfiguration.mapOctets)
    }
}

/// Sets the lengths and intervals of the procedures with a configuration (Core Vol 4 Part E 7.8.140).
package struct LECSSetProcedureParameters: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x93, "LE CS Set Procedure Parameters", bit: (29, 1))

    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    /// The maximum duration of a procedure, in units of 0.625 ms.
    package var maxProcedureLength: UInt16 = 0
    /// The time between procedures, in connection intervals.
    package var minProcedureInterval: UInt16 = 0
    package var maxProcedureInterval: UInt16 = 0
    /// The number of procedures; 0 for no limit.
    package var maxProcedureCount: UInt16 = 0
    /// The duration of a subevent, in microseconds, 1,250 to 3,999,999.
    package var minSubeventLength: UInt32 = 0
    package var maxSubeventLength: UInt32 = 0
    package var antennaConfiguration: UInt8 = 0
    package var phy: UInt8 = 0
    /// The difference of the transmit power to that of the link, in dB; 0x80 for no recommendation.
    package var txPowerDelta: UInt8 = 0
    package var preferredPeerAntenna: UInt8 = 0
    /// The adjustment of the signal-to-noise ratio; 0xFF for none. The same for the reflector.
    package var snrInitiator: UInt8 = 0
    package var snrReflector: UInt8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("Max_Procedure_Len", &maxProcedureLength)
        try coder.field("Min_Procedure_Interval", &minProcedureInterval)
        try coder.field("Max_Procedure_Interval", &maxProcedureInterval)
        try coder.field("Max_Procedure_Count", &maxProcedureCount)
        try coder.uint24("Min_Subevent_Len", &minSubeventLength)
        try coder.uint24("Max_Subevent_Len", &maxSubeventLength)
        try coder.field("Tone_Antenna_Config_Selection", &antennaConfiguration)
        try coder.field("PHY", &phy)
        try coder.field("TX_Power_Delta", &txPowerDelta)
        try coder.field("Preferred_Peer_Antenna", &preferredPeerAntenna)
        try coder.field("SNR_Control_Initiator", &snrInitiator)
        try coder.field("SNR_Control_Reflector", &snrReflector)
    }
}

/// Starts or ends the procedures with a configuration (Core Vol 4 Part E 7.8.141). LE CS Procedure Enable Complete
/// follows.
package struct LECSProcedureEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x94, "LE CS Procedure Enable", bit: (29, 2), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    package var isEnabled = false

    package init() {}
    package init(handle: ConnectionHandle, config: UInt8, isEnabled: Bool) {
        (self.handle, self.config, self.isEnabled) = (handle, config, isEnabled)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("Enable", &isEnabled)
    }
}
