import BluetoothTypes

/// Sets the parameters of a set's periodic advertising train, including its subevents and response slots (Core Vol 4
/// Part E 7.8.61).
package struct LESetPeriodicAdvertisingParametersV2: HCICommand {
    package typealias Response = StatusAndSet

    package static let entry = CommandEntry(.le, 0x86, "LE Set Periodic Advertising Parameters [v2]", bit: (47, 1))

    package var v1 = LESetPeriodicAdvertisingParameters()
    /// The division of events into subevents; all zeros for a train without responses.
    package var timing = LESubeventTiming()
    /// The number of response slots of each subevent; 0 for none.
    package var responseSlots: UInt8 = 0

    package init() {}

    package init(v1: LESetPeriodicAdvertisingParameters, timing: LESubeventTiming, responseSlots: UInt8) {
        (self.v1, self.timing, self.responseSlots) = (v1, timing, responseSlots)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
        try coder.field("Num_Response_Slots", &responseSlots)
    }
}

/// Sets the data that subevents send once, and the response slots to receive (Core Vol 4 Part E 7.8.125).
package struct LESetPeriodicAdvertisingSubeventData: HCICommand {
    package typealias Response = StatusAndSet

    package static let entry = CommandEntry(.le, 0x82, "LE Set Periodic Advertising Subevent Data", bit: (46, 5))

    package var set: UInt8 = 0
    /// The subevents, at most 15.
    package var subevents: [LESubeventData] = []

    package init() {}
    package init(set: UInt8, subevents: [LESubeventData]) { (self.set, self.subevents) = (set, subevents) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.list("Num_Subevents", "Subevent", &subevents)
    }
}

/// The data and response slots of one subevent, in LE Set Periodic Advertising Subevent Data.
package struct LESubeventData: PacketFields, Hashable, Sendable {
    /// The subevent, 0 to 127.
    package var subevent: UInt8 = 0
    package var firstSlot: UInt8 = 0
    /// The number of response slots to receive.
    package var slots: UInt8 = 0
    /// The data, at most 249 octets, which is what a command can carry.
    package var data: PacketBuffer = []

    package init() {}

    package init(subevent: UInt8, firstSlot: UInt8, slots: UInt8, data: PacketBuffer) {
        (self.subevent, self.firstSlot, self.slots, self.data) = (subevent, firstSlot, slots, data)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Subevent", &subevent)
        try coder.field("Response_Slot_Start", &firstSlot)
        try coder.field("Response_Slot_Count", &slots)
        try coder.countedBytes("Subevent_Data", &data)
    }
}

/// Sends one response to a received subevent (Core Vol 4 Part E 7.8.126).
package struct LESetPeriodicAdvertisingResponseData: HCICommand {
    package typealias Response = StatusAndSync

    package static let entry = CommandEntry(.le, 0x83, "LE Set Periodic Advertising Response Data", bit: (46, 6))

    package var sync: UInt16 = 0
    /// The paEventCounter of the event to which this responds.
    package var requestEvent: UInt16 = 0
    package var requestSubevent: UInt8 = 0
    /// The subevent in whose response slots the response is sent.
    package var responseSubevent: UInt8 = 0
    /// The number of the response slot, 0x00 to 0xFF.
    package var slot: UInt8 = 0
    /// The response, at most 247 octets, which is what a command can carry.
    package var data: PacketBuffer = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Request_Event", &requestEvent)
        try coder.field("Request_Subevent", &requestSubevent)
        try coder.field("Response_Subevent", &responseSubevent)
        try coder.field("Response_Slot", &slot)
        try coder.countedBytes("Response_Data", &data)
    }
}

/// Selects the subevents of a train to receive (Core Vol 4 Part E 7.8.127).
package struct LESetPeriodicSyncSubevent: HCICommand {
    package typealias Response = StatusAndSync

    package static let entry = CommandEntry(.le, 0x84, "LE Set Periodic Sync Subevent", bit: (46, 7))

    package var sync: UInt16 = 0
    /// The optional fields of the responses.
    package var properties: LEPeriodicProperties = []
    /// The subevents, one octet each, 1 to 128 of them.
    package var subevents: PacketBuffer = []

    package init() {}

    package init(sync: UInt16, properties: LEPeriodicProperties = [], subevents: PacketBuffer) {
        (self.sync, self.properties, self.subevents) = (sync, properties, subevents)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Periodic_Advertising_Properties", &properties)
        try coder.countedBytes("Subevent", &subevents)
    }
}

/// The return parameters of commands for an advertising set.
package struct StatusAndSet: HCIResponse {
    package var status = HCIStatus.success
    package var set: UInt8 = 0

    package init() {}
    package init(_ status: HCIStatus, set: UInt8) { (self.status, self.set) = (status, set) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Advertising_Handle", &set)
    }
}

/// The return parameters of commands for a train to which this device is synchronized.
package struct StatusAndSync: HCIResponse {
    package var status = HCIStatus.success
    package var sync: UInt16 = 0

    package init() {}
    package init(_ status: HCIStatus, sync: UInt16) { (self.status, self.sync) = (status, sync) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Sync_Handle", &sync)
    }
}
