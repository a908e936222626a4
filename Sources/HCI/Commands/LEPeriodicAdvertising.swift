import BluetoothTypes

/// LE Set Periodic Advertising Parameters [v1] (Core Vol 4 Part E 7.8.61): tells how a set advertises at fixed times.
package struct LESetPeriodicAdvertisingParameters: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x003E) }
    package static var name: String { "LE Set Periodic Advertising Parameters [v1]" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 37, bit: 2) }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// The shortest interval in units of 1.25 ms, 0x0006 to 0xFFFF.
    package var intervalMin: UInt16 = 0
    /// The longest interval in units of 1.25 ms, 0x0006 to 0xFFFF.
    package var intervalMax: UInt16 = 0
    /// What the packets hold.
    package var properties: LEPeriodicProperties = []

    package init() {}

    package init(set: UInt8, intervalMin: UInt16, intervalMax: UInt16, properties: LEPeriodicProperties) {
        self.set = set
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.properties = properties
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Periodic_Advertising_Interval_Min", &intervalMin)
        try coder.field("Periodic_Advertising_Interval_Max", &intervalMax)
        try coder.field("Periodic_Advertising_Properties", &properties)
    }
}

/// LE Set Periodic Advertising Data (Core Vol 4 Part E 7.8.62): sets the data of a train, or a part of them.
package struct LESetPeriodicAdvertisingData: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x003F) }
    package static var name: String { "LE Set Periodic Advertising Data" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 37, bit: 3) }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// Which part it is.
    package var operation = LEDataOperation(rawValue: 0)
    /// The data, 252 octets at most.
    package var data: PacketBuffer = []

    package init() {}

    package init(set: UInt8, operation: LEDataOperation, data: PacketBuffer) {
        self.set = set
        self.operation = operation
        self.data = data
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Operation", &operation)
        try coder.countedBytes("Advertising_Data", &data)
    }
}

/// LE Set Periodic Advertising Enable (Core Vol 4 Part E 7.8.63): begins or ends the train of a set. It begins with the
/// advertising of the set, and goes on without.
package struct LESetPeriodicAdvertisingEnable: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0040) }
    package static var name: String { "LE Set Periodic Advertising Enable" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 37, bit: 4) }

    /// Whether, and how.
    package var enable: LEPeriodicEnable = []
    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0

    package init() {}

    package init(enable: LEPeriodicEnable, set: UInt8) {
        self.enable = enable
        self.set = set
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Enable", &enable)
        try coder.field("Advertising_Handle", &set)
    }
}
