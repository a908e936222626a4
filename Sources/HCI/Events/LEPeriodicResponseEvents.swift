import BluetoothTypes

/// LE Periodic Advertising Sync Established [v2] (Core Vol 4 Part E 7.7.65.14): the same with how events are divided.
package struct LEPeriodicAdvertisingSyncEstablishedV2: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x24) }
    package static var name: String { "LE Periodic Advertising Sync Established [v2]" }

    /// What version 1 says too.
    package var v1 = LEPeriodicAdvertisingSyncEstablished()
    /// How events are divided; all zeros for a train without responses.
    package var timing = LESubeventTiming()

    package init() {}

    package init(v1: LEPeriodicAdvertisingSyncEstablished, timing: LESubeventTiming) {
        self.v1 = v1
        self.timing = timing
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
    }
}

/// LE Periodic Advertising Report [v2] (Core Vol 4 Part E 7.7.65.15): the data of a train, or a part of them, and where they
/// were heard.
package struct LEPeriodicAdvertisingReportV2: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x25) }
    package static var name: String { "LE Periodic Advertising Report [v2]" }

    /// A train without responses has no subevents.
    package static let noSubevent: UInt8 = 0xFF

    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// The transmit power that it names, in dBm; 127 for none.
    package var txPower: Int8 = 0
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8 = 0
    /// The constant tone; 0xFF for none.
    package var toneKind: UInt8 = 0
    /// paEventCounter of the event.
    package var event: UInt16 = 0
    /// The subevent; ``noSubevent`` for none.
    package var periodicSubevent: UInt8 = 0
    /// Whether there is more.
    package var dataStatus = LEPeriodicDataStatus(rawValue: 0)
    /// The data, or a part of them, 244 octets at most.
    package var data: PacketBuffer = []

    package init() {}

    package init(_ v1: LEPeriodicAdvertisingReport, event: UInt16, subevent: UInt8) {
        (sync, txPower, rssi, toneKind) = (v1.sync, v1.txPower, v1.rssi, v1.toneKind)
        (dataStatus, data) = (v1.dataStatus, v1.data)
        self.event = event
        self.periodicSubevent = subevent
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("CTE_Type", &toneKind)
        try coder.field("Periodic_Event_Counter", &event)
        try coder.field("Subevent", &periodicSubevent)
        try coder.field("Data_Status", &dataStatus)
        try coder.countedBytes("Data", &data)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v2] (Core Vol 4 Part E 7.7.65.24): the same with how events are divided.
package struct LEPeriodicAdvertisingSyncTransferReceivedV2: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x26) }
    package static var name: String { "LE Periodic Advertising Sync Transfer Received [v2]" }

    /// What version 1 says too.
    package var v1 = LEPeriodicAdvertisingSyncTransferReceived()
    /// How events are divided; all zeros for a train without responses.
    package var timing = LESubeventTiming()

    package init() {}

    package init(v1: LEPeriodicAdvertisingSyncTransferReceived, timing: LESubeventTiming) {
        self.v1 = v1
        self.timing = timing
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
    }
}

/// LE Periodic Advertising Subevent Data Request (Core Vol 4 Part E 7.7.65.36): the controller has room for the data of so many
/// subevents.
package struct LEPeriodicAdvertisingSubeventDataRequest: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x27) }
    package static var name: String { "LE Periodic Advertising Subevent Data Request" }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// The first subevent.
    package var first: UInt8 = 0
    /// How many; behind the last comes the first.
    package var count: UInt8 = 0

    package init() {}

    package init(set: UInt8, first: UInt8, count: UInt8) {
        self.set = set
        self.first = first
        self.count = count
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent_Start", &first)
        try coder.field("Subevent_Data_Count", &count)
    }
}

/// LE Periodic Advertising Response Report (Core Vol 4 Part E 7.7.65.37): what was heard in the response slots of a subevent.
package struct LEPeriodicAdvertisingResponseReport: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x28) }
    package static var name: String { "LE Periodic Advertising Response Report" }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// The subevent.
    package var periodicSubevent: UInt8 = 0
    /// Whether AUX_SYNC_SUBEVENT_IND was left out.
    package var wasLeftOut = false
    /// What was heard in the slots.
    package var responses: [LEPeriodicResponse] = []

    package init() {}

    package init(set: UInt8, subevent: UInt8, wasLeftOut: Bool = false, responses: [LEPeriodicResponse]) {
        self.set = set
        periodicSubevent = subevent
        self.wasLeftOut = wasLeftOut
        self.responses = responses
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent", &periodicSubevent)
        try coder.field("Tx_Status", &wasLeftOut)
        try coder.list("Num_Responses", "Response", &responses)
    }
}

/// What was heard in one response slot.
package struct LEPeriodicResponse: PacketFields, Hashable, Sendable {
    /// The transmit power that it names, in dBm; 127 for none.
    package var txPower: Int8 = 127
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8 = 127
    /// The constant tone; 0xFF for none.
    package var toneKind: UInt8 = 0xFF
    /// The slot.
    package var slot: UInt8 = 0
    /// Whether there is more, or nothing was heard.
    package var dataStatus = LEPeriodicDataStatus.lost
    /// The data, or a part of them.
    package var data: PacketBuffer = []

    package init() {}

    package init(slot: UInt8) {
        self.slot = slot
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("CTE_Type", &toneKind)
        try coder.field("Response_Slot", &slot)
        try coder.field("Data_Status", &dataStatus)
        try coder.countedBytes("Data", &data)
    }
}
