import BluetoothTypes

/// The first packet of a train has been received, or synchronization has failed (Core Vol 4 Part E 7.7.65.14).
package struct LEPeriodicAdvertisingSyncEstablished: HCIEvent {
    package static let entry = EventEntry(le: 0x0E, "LE Periodic Advertising Sync Established [v1]")

    package var status = HCIStatus.success
    package var sync: UInt16 = 0
    /// The advertising SID of the set, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// The advertiser's address, or its identity address if the controller resolved it.
    package var address = BluetoothAddress.none
    package var phy = LEPHY(rawValue: 0)
    /// The periodic advertising interval, in units of 1.25 ms.
    package var interval: UInt16 = 0
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Sync_Handle", &sync)
        try coder.field("Advertising_SID", &sid)
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Advertiser_PHY", &phy)
        try coder.field("Periodic_Advertising_Interval", &interval)
        try coder.field("Advertiser_Clock_Accuracy", &accuracy)
    }
}

/// The data of a train, or a fragment of it (Core Vol 4 Part E 7.7.65.15).
package struct LEPeriodicAdvertisingReport: HCIEvent {
    package static let entry = EventEntry(le: 0x0F, "LE Periodic Advertising Report [v1]")

    package var sync: UInt16 = 0
    /// The transmit power given in the packet, in dBm; 127 if absent.
    package var txPower: Int8 = 0
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 0
    /// The type of Constant Tone Extension; 0xFF for none.
    package var toneKind: UInt8 = 0
    package var dataStatus = LEPeriodicDataStatus(rawValue: 0)
    /// The data, or a fragment of it, at most 247 octets.
    package var data: PacketBuffer = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("CTE_Type", &toneKind)
        try coder.field("Data_Status", &dataStatus)
        try coder.countedBytes("Data", &data)
    }
}

/// No packet of a train has been received for the timeout (Core Vol 4 Part E 7.7.65.16).
package struct LEPeriodicAdvertisingSyncLost: HCIEvent {
    package static let entry = EventEntry(le: 0x10, "LE Periodic Advertising Sync Lost")

    package var sync: UInt16 = 0

    package init() {}
    package init(sync: UInt16) { self.sync = sync }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
    }
}

/// A peer has transferred a synchronization, and this device is synchronized, or synchronization has failed (Core Vol 4
/// Part E 7.7.65.24).
package struct LEPeriodicAdvertisingSyncTransferReceived: HCIEvent {
    package static let entry = EventEntry(le: 0x18, "LE Periodic Advertising Sync Transfer Received [v1]")

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The value that the peer's host provided.
    package var serviceData: UInt16 = 0
    package var sync: UInt16 = 0
    /// The advertising SID of the set, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// The advertiser's address, or its identity address if the controller resolved it.
    package var address = BluetoothAddress.none
    package var phy = LEPHY(rawValue: 0)
    /// The periodic advertising interval, in units of 1.25 ms.
    package var interval: UInt16 = 0
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Service_Data", &serviceData)
        try coder.field("Sync_Handle", &sync)
        try coder.field("Advertising_SID", &sid)
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Advertiser_PHY", &phy)
        try coder.field("Periodic_Advertising_Interval", &interval)
        try coder.field("Advertiser_Clock_Accuracy", &accuracy)
    }
}
