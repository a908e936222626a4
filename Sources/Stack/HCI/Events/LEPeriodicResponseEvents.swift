import BluetoothTypes

/// The first packet of a train has been received, or synchronization has failed (Core Vol 4 Part E 7.7.65.14). It
/// includes the division of events into subevents.
package struct LEPeriodicAdvertisingSyncEstablishedV2: HCIEvent {
    package static let entry = EventEntry(le: 0x24, "LE Periodic Advertising Sync Established [v2]")

    package var v1 = LEPeriodicAdvertisingSyncEstablished()
    /// The division of events into subevents; all zeros for a train without responses.
    package var timing = LESubeventTiming()

    package init() {}

    package init(v1: LEPeriodicAdvertisingSyncEstablished, timing: LESubeventTiming) {
        (self.v1, self.timing) = (v1, timing)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
    }
}

/// The data of a train, or a fragment of it, with the event and subevent in which it was received (Core Vol 4 Part E
/// 7.7.65.15).
package struct LEPeriodicAdvertisingReportV2: HCIEvent {
    package static let entry = EventEntry(le: 0x25, "LE Periodic Advertising Report [v2]")

    /// The subevent of trains without responses.
    package static let noSubevent: UInt8 = 0xFF

    package var sync: UInt16 = 0
    /// The transmit power given in the packet, in dBm; 127 if absent.
    package var txPower: Int8 = 0
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 0
    /// The type of Constant Tone Extension; 0xFF for none.
    package var toneKind: UInt8 = 0
    /// The paEventCounter of the event.
    package var event: UInt16 = 0
    package var periodicSubevent: UInt8 = 0
    package var dataStatus = LEPeriodicDataStatus(rawValue: 0)
    /// The data, or a fragment of it, at most 244 octets.
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

/// A peer has transferred a synchronization, and this device is synchronized, or synchronization has failed (Core Vol 4
/// Part E 7.7.65.24). It includes the division of events into subevents.
package struct LEPeriodicAdvertisingSyncTransferReceivedV2: HCIEvent {
    package static let entry = EventEntry(le: 0x26, "LE Periodic Advertising Sync Transfer Received [v2]")

    package var v1 = LEPeriodicAdvertisingSyncTransferReceived()
    /// The division of events into subevents; all zeros for a train without responses.
    package var timing = LESubeventTiming()

    package init() {}

    package init(v1: LEPeriodicAdvertisingSyncTransferReceived, timing: LESubeventTiming) {
        (self.v1, self.timing) = (v1, timing)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try timing.code(&coder)
    }
}

/// The controller can accept the data of further subevents (Core Vol 4 Part E 7.7.65.36).
package struct LEPeriodicAdvertisingSubeventDataRequest: HCIEvent {
    package static let entry = EventEntry(le: 0x27, "LE Periodic Advertising Subevent Data Request")

    package var set: UInt8 = 0
    /// The first subevent for which the controller accepts data.
    package var first: UInt8 = 0
    /// The number of subevents; the first follows the last.
    package var count: UInt8 = 0

    package init() {}
    package init(set: UInt8, first: UInt8, count: UInt8) { (self.set, self.first, self.count) = (set, first, count) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent_Start", &first)
        try coder.field("Subevent_Data_Count", &count)
    }
}

/// The responses in the response slots of a subevent (Core Vol 4 Part E 7.7.65.37).
package struct LEPeriodicAdvertisingResponseReport: HCIEvent {
    package static let entry = EventEntry(le: 0x28, "LE Periodic Advertising Response Report")

    package var set: UInt8 = 0
    /// The number of the subevent, 0x00 to 0x7F.
    package var periodicSubevent: UInt8 = 0
    /// Whether AUX_SYNC_SUBEVENT_IND was not transmitted.
    package var wasLeftOut = false
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

/// The response in one response slot.
package struct LEPeriodicResponse: PacketFields, Hashable, Sendable {
    /// The transmit power given in the packet, in dBm; 127 if absent.
    package var txPower: Int8 = 127
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 127
    /// The type of Constant Tone Extension; 0xFF for none.
    package var toneKind: UInt8 = 0xFF
    /// The number of the response slot, 0x00 to 0xFF.
    package var slot: UInt8 = 0
    package var dataStatus = LEPeriodicDataStatus.lost
    package var data: PacketBuffer = []

    package init() {}
    package init(slot: UInt8) { self.slot = slot }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("CTE_Type", &toneKind)
        try coder.field("Response_Slot", &slot)
        try coder.field("Data_Status", &dataStatus)
        try coder.countedBytes("Data", &data)
    }
}
