import BluetoothTypes

/// LE Set Periodic Advertising Parameters [v2] (Core Vol 4 Part E 7.8.61): tells how a set advertises at fixed times, and when
/// others respond.
package struct LESetPeriodicAdvertisingParametersV2: HCICommand {
    package typealias Response = StatusAndSet

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0086) }
    package static var name: String { "LE Set Periodic Advertising Parameters [v2]" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 47, bit: 1) }

    /// What version 1 says too.
    package var v1 = LESetPeriodicAdvertisingParameters()
    /// How events are divided; all zeros for a train without responses.
    package var timing = LESubeventTiming()
    /// Response slots of each subevent; 0 for none.
    package var responseSlots: UInt8 = 0

    package init() {}

    package init(v1: LESetPeriodicAdvertisingParameters, timing: LESubeventTiming, responseSlots: UInt8) {
        self.v1 = v1
        self.timing = timing
        self.responseSlots = responseSlots
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
        try coder.field("Num_Response_Slots", &responseSlots)
    }
}

/// LE Set Periodic Advertising Subevent Data (Core Vol 4 Part E 7.8.125): what is sent in subevents, once, and which response
/// slots are listened to.
package struct LESetPeriodicAdvertisingSubeventData: HCICommand {
    package typealias Response = StatusAndSet

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0082) }
    package static var name: String { "LE Set Periodic Advertising Subevent Data" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 46, bit: 5) }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// The subevents, 15 at most.
    package var subevents: [LESubeventData] = []

    package init() {}

    package init(set: UInt8, subevents: [LESubeventData]) {
        self.set = set
        self.subevents = subevents
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.list("Num_Subevents", "Subevent", &subevents)
    }
}

/// What one subevent sends, in LE Set Periodic Advertising Subevent Data.
package struct LESubeventData: PacketFields, Hashable, Sendable {
    /// The subevent, 0 to 127.
    package var subevent: UInt8 = 0
    /// The first response slot that is listened to.
    package var firstSlot: UInt8 = 0
    /// How many response slots are listened to.
    package var slots: UInt8 = 0
    /// The data, 249 octets at most: a command has no room for more.
    package var data: PacketBuffer = []

    package init() {}

    package init(subevent: UInt8, firstSlot: UInt8, slots: UInt8, data: PacketBuffer) {
        self.subevent = subevent
        self.firstSlot = firstSlot
        self.slots = slots
        self.data = data
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Subevent", &subevent)
        try coder.field("Response_Slot_Start", &firstSlot)
        try coder.field("Response_Slot_Count", &slots)
        try coder.countedBytes("Subevent_Data", &data)
    }
}

/// LE Set Periodic Advertising Response Data (Core Vol 4 Part E 7.8.126): answers to a subevent that was heard, once.
package struct LESetPeriodicAdvertisingResponseData: HCICommand {
    package typealias Response = StatusAndSync

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0083) }
    package static var name: String { "LE Set Periodic Advertising Response Data" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 46, bit: 6) }

    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// paEventCounter of the event that is answered.
    package var requestEvent: UInt16 = 0
    /// The subevent that is answered.
    package var requestSubevent: UInt8 = 0
    /// The subevent in whose slots the answer is sent.
    package var responseSubevent: UInt8 = 0
    /// The slot.
    package var slot: UInt8 = 0
    /// The answer, 247 octets at most: the command has no room for more.
    package var data: PacketBuffer = []

    package init() {}

    package init(
        sync: UInt16,
        requestEvent: UInt16,
        requestSubevent: UInt8,
        responseSubevent: UInt8,
        slot: UInt8,
        data: PacketBuffer
    ) {
        self.sync = sync
        self.requestEvent = requestEvent
        self.requestSubevent = requestSubevent
        self.responseSubevent = responseSubevent
        self.slot = slot
        self.data = data
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Request_Event", &requestEvent)
        try coder.field("Request_Subevent", &requestSubevent)
        try coder.field("Response_Subevent", &responseSubevent)
        try coder.field("Response_Slot", &slot)
        try coder.countedBytes("Response_Data", &data)
    }
}

/// LE Set Periodic Sync Subevent (Core Vol 4 Part E 7.8.127): says which subevents of a train are listened to.
package struct LESetPeriodicSyncSubevent: HCICommand {
    package typealias Response = StatusAndSync

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0084) }
    package static var name: String { "LE Set Periodic Sync Subevent" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 46, bit: 7) }

    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// What the responses hold.
    package var properties: LEPeriodicProperties = []
    /// The subevents, an octet each, 1 to 128 of them.
    package var subevents: PacketBuffer = []

    package init() {}

    package init(sync: UInt16, properties: LEPeriodicProperties = [], subevents: PacketBuffer) {
        self.sync = sync
        self.properties = properties
        self.subevents = subevents
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Periodic_Advertising_Properties", &properties)
        try coder.countedBytes("Subevent", &subevents)
    }
}

/// The answer to commands about an advertising set.
package struct StatusAndSet: HCIResponse {
    package var status = HCIStatus.success
    /// The advertising set.
    package var set: UInt8 = 0

    package init() {}

    package init(_ status: HCIStatus, set: UInt8) {
        self.status = status
        self.set = set
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Advertising_Handle", &set)
    }
}

/// The answer to commands about a train that is followed.
package struct StatusAndSync: HCIResponse {
    package var status = HCIStatus.success
    /// The synchronization.
    package var sync: UInt16 = 0

    package init() {}

    package init(_ status: HCIStatus, sync: UInt16) {
        self.status = status
        self.sync = sync
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Sync_Handle", &sync)
    }
}
