import BluetoothTypes

/// The peer's Channel Sounding capabilities (Core Vol 4 Part E 7.7.65.39).
package struct LECSReadRemoteSupportedCapabilitiesComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x2C, "LE CS Read Remote Supported Capabilities Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var capabilities = LESoundingCapabilities()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try capabilities.code(&coder)
    }
}

/// The peer's frequency actuation errors (Core Vol 4 Part E 7.7.65.40).
package struct LECSReadRemoteFAETableComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x2D, "LE CS Read Remote FAE Table Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The errors in units of 1/32 ppm, 72 octets.
    package var table: PacketBuffer = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.bytes("Remote_FAE_Table", &table, count: LECSReadRemoteFAETable.tableOctets)
    }
}

/// The security of Channel Sounding has been started, or could not be (Core Vol 4 Part E 7.7.65.41).
package struct LECSSecurityEnableComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x2E, "LE CS Security Enable Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
    package init(status: HCIStatus, handle: ConnectionHandle) { (self.status, self.handle) = (status, handle) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
    }
}

/// A configuration has been created or removed (Core Vol 4 Part E 7.7.65.42).
package struct LECSConfigComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x2F, "LE CS Config Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    /// Whether the configuration was created, rather than removed.
    package var isCreated = false
    package var configuration = LESoundingConfiguration()
    /// The times of the steps, in microseconds.
    package var ip1Time: UInt8 = 0
    package var ip2Time: UInt8 = 0
    package var fcsTime: UInt8 = 0
    package var pmTime: UInt8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("Action", &isCreated)
        try configuration.code(&coder)
        try coder.field("T_IP1_Time", &ip1Time)
        try coder.field("T_IP2_Time", &ip2Time)
        try coder.field("T_FCS_Time", &fcsTime)
        try coder.field("T_PM_Time", &pmTime)
    }
}

/// Procedures have been started or ended (Core Vol 4 Part E 7.7.65.43).
package struct LECSProcedureEnableComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x30, "LE CS Procedure Enable Complete")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    package var isEnabled = false
    package var antennaConfiguration: UInt8 = 0
    /// The transmit power in dBm.
    package var txPower: Int8 = 0
    /// The duration of a subevent, in microseconds.
    package var subeventLength: UInt32 = 0
    package var subeventsPerEvent: UInt8 = 0
    /// The time between subevents, in units of 0.625 ms.
    package var subeventInterval: UInt16 = 0
    /// The time between events, in connection intervals.
    package var eventInterval: UInt16 = 0
    /// The time between procedures, in connection intervals.
    package var procedureInterval: UInt16 = 0
    package var procedureCount: UInt16 = 0
    /// The maximum duration of a procedure, in units of 0.625 ms.
    package var maxProcedureLength: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("State", &isEnabled)
        try coder.field("Tone_Antenna_Config_Selection", &antennaConfiguration)
        try coder.field("Selected_TX_Power", &txPower)
        try coder.uint24("Subevent_Len", &subeventLength)
        try coder.field("Subevents_Per_Event", &subeventsPerEvent)
        try coder.field("Subevent_Interval", &subeventInterval)
        try coder.field("Event_Interval", &eventInterval)
        try coder.field("Procedure_Interval", &procedureInterval)
        try coder.field("Procedure_Count", &procedureCount)
        try coder.field("Max_Procedure_Len", &maxProcedureLength)
    }
}

/// The results of a subevent, or the first of them (Core Vol 4 Part E 7.7.65.44).
package struct LECSSubeventResult: HCIEvent {
    package static let entry = EventEntry(le: 0x31, "LE CS Subevent Result")
    /// The number of octets of steps that fit into the event.
    package static let stepOctets = 254 - 15

    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    /// The connection event from which the procedure's event was scheduled.
    package var startEvent: UInt16 = 0
    package var procedureCounter: UInt16 = 0
    /// The correction of this device's frequency, in units of 0.01 ppm, 15 bits signed; 0xC000 if unavailable.
    package var frequencyCompensation: UInt16 = 0
    /// The power in dBm to which the amplitudes of tones relate.
    package var referencePower: Int8 = 0
    package var progress = LESoundingProgress()
    package var antennaPaths: UInt8 = 0
    package var steps: [LESoundingStep] = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try coder.field("Start_ACL_Conn_Event_Counter", &startEvent)
        try coder.field("Procedure_Counter", &procedureCounter)
        try coder.field("Frequency_Compensation", &frequencyCompensation)
        try coder.field("Reference_Power_Level", &referencePower)
        try progress.code(&coder)
        try coder.field("Num_Antenna_Paths", &antennaPaths)
        try coder.list("Num_Steps_Reported", "Step", &steps)
    }
}

/// Further results of a subevent (Core Vol 4 Part E 7.7.65.45).
package struct LECSSubeventResultContinue: HCIEvent {
    package static let entry = EventEntry(le: 0x32, "LE CS Subevent Result Continue")
    /// The number of octets of steps that fit into the event.
    package static let stepOctets = 254 - 8

    package var handle = ConnectionHandle(rawValue: 0)
    package var config: UInt8 = 0
    package var progress = LESoundingProgress()
    package var antennaPaths: UInt8 = 0
    package var steps: [LESoundingStep] = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Config_ID", &config)
        try progress.code(&coder)
        try coder.field("Num_Antenna_Paths", &antennaPaths)
        try coder.list("Num_Steps_Reported", "Step", &steps)
    }
}
