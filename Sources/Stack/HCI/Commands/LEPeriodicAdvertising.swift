import BluetoothTypes

/// Sets the parameters of a set's periodic advertising train (Core Vol 4 Part E 7.8.61).
package struct LESetPeriodicAdvertisingParameters: HCICommand {
    package static let entry = CommandEntry(.le, 0x3E, "LE Set Periodic Advertising Parameters [v1]", bit: (37, 2))

    package var set: UInt8 = 0
    /// The minimum interval, in units of 1.25 ms, 0x0006 to 0xFFFF.
    package var intervalMin: UInt16 = 0
    /// The maximum interval, in units of 1.25 ms, 0x0006 to 0xFFFF.
    package var intervalMax: UInt16 = 0
    package var properties: LEPeriodicProperties = []

    package init() {}

    package init(set: UInt8, intervalMin: UInt16, intervalMax: UInt16, properties: LEPeriodicProperties) {
        (self.set, self.intervalMin, self.intervalMax, self.properties) = (set, intervalMin, intervalMax, properties)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Periodic_Advertising_Interval_Min", &intervalMin)
        try coder.field("Periodic_Advertising_Interval_Max", &intervalMax)
        try coder.field("Periodic_Advertising_Properties", &properties)
    }
}

/// Sets the data of a train, or a fragment of it (Core Vol 4 Part E 7.8.62).
package struct LESetPeriodicAdvertisingData: HCICommand {
    package static let entry = CommandEntry(.le, 0x3F, "LE Set Periodic Advertising Data", bit: (37, 3))

    package var set: UInt8 = 0
    package var operation = LEDataOperation(rawValue: 0)
    /// The data, at most 252 octets.
    package var data: PacketBuffer = []

    package init() {}

    package init(set: UInt8, operation: LEDataOperation, data: PacketBuffer) {
        (self.set, self.operation, self.data) = (set, operation, data)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Operation", &operation)
        try coder.countedBytes("Advertising_Data", &data)
    }
}

/// Starts or stops the train of a set (Core Vol 4 Part E 7.8.63). The train starts when the set advertises, and
/// continues when the set stops advertising.
package struct LESetPeriodicAdvertisingEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x40, "LE Set Periodic Advertising Enable", bit: (37, 4))

    package var enable: LEPeriodicEnable = []
    package var set: UInt8 = 0

    package init() {}
    package init(enable: LEPeriodicEnable, set: UInt8) { (self.enable, self.set) = (enable, set) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Enable", &enable)
        try coder.field("Advertising_Handle", &set)
    }
}
