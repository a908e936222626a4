import BluetoothTypes

/// LE Periodic Advertising Sync Established [v1] (Core Vol 4 Part E 7.7.65.14): the first packet of a train has come, or the
/// train could not be followed.
package struct LEPeriodicAdvertisingSyncEstablished: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x0E) }
    package static var name: String { "LE Periodic Advertising Sync Established [v1]" }

    /// Whether it came about.
    package var status = HCIStatus.success
    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// Which of the advertiser's sets, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// The advertiser.
    package var address = BluetoothAddress.none
    /// The PHY of the train.
    package var phy = LEPHY(rawValue: 0)
    /// The interval in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// The advertiser's clock.
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package init(
        status: HCIStatus = HCIStatus.success,
        sync: UInt16,
        sid: UInt8,
        address: BluetoothAddress,
        phy: LEPHY,
        interval: UInt16,
        accuracy: LEClockAccuracy
    ) {
        self.status = status
        self.sync = sync
        self.sid = sid
        self.address = address
        self.phy = phy
        self.interval = interval
        self.accuracy = accuracy
    }

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

/// LE Periodic Advertising Report [v1] (Core Vol 4 Part E 7.7.65.15): the data of a train, or a part of them.
package struct LEPeriodicAdvertisingReport: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x0F) }
    package static var name: String { "LE Periodic Advertising Report [v1]" }

    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// The transmit power that it names, in dBm; 127 for none.
    package var txPower: Int8 = 0
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8 = 0
    /// The constant tone; 0xFF for none.
    package var toneKind: UInt8 = 0
    /// Whether there is more.
    package var dataStatus = LEPeriodicDataStatus(rawValue: 0)
    /// The data, or a part of them, 247 octets at most.
    package var data: PacketBuffer = []

    package init() {}

    package init(
        sync: UInt16,
        txPower: Int8,
        rssi: Int8,
        toneKind: UInt8,
        dataStatus: LEPeriodicDataStatus,
        data: PacketBuffer
    ) {
        self.sync = sync
        self.txPower = txPower
        self.rssi = rssi
        self.toneKind = toneKind
        self.dataStatus = dataStatus
        self.data = data
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("CTE_Type", &toneKind)
        try coder.field("Data_Status", &dataStatus)
        try coder.countedBytes("Data", &data)
    }
}

/// LE Periodic Advertising Sync Lost (Core Vol 4 Part E 7.7.65.16): a train has not been heard for too long.
package struct LEPeriodicAdvertisingSyncLost: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x10) }
    package static var name: String { "LE Periodic Advertising Sync Lost" }

    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0

    package init() {}

    package init(sync: UInt16) {
        self.sync = sync
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
    }
}

/// LE Periodic Advertising Sync Transfer Received [v1] (Core Vol 4 Part E 7.7.65.24): a peer has told of a train, and it is
/// followed, or could not be.
package struct LEPeriodicAdvertisingSyncTransferReceived: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x18) }
    package static var name: String { "LE Periodic Advertising Sync Transfer Received [v1]" }

    /// Whether it came about.
    package var status = HCIStatus.success
    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// A number for the host of the peer.
    package var serviceData: UInt16 = 0
    /// The synchronization, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// Which of the advertiser's sets, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// The advertiser.
    package var address = BluetoothAddress.none
    /// The PHY of the train.
    package var phy = LEPHY(rawValue: 0)
    /// The interval in units of 1.25 ms.
    package var interval: UInt16 = 0
    /// The advertiser's clock.
    package var accuracy = LEClockAccuracy(rawValue: 0)

    package init() {}

    package init(
        status: HCIStatus = HCIStatus.success,
        handle: ConnectionHandle,
        serviceData: UInt16,
        sync: UInt16,
        sid: UInt8,
        address: BluetoothAddress,
        phy: LEPHY,
        interval: UInt16,
        accuracy: LEClockAccuracy
    ) {
        self.status = status
        self.handle = handle
        self.serviceData = serviceData
        self.sync = sync
        self.sid = sid
        self.address = address
        self.phy = phy
        self.interval = interval
        self.accuracy = accuracy
    }

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
