import BluetoothTypes

/// LE Advertising Report (Core Vol 4 Part E 7.7.65.2): legacy advertisements that a legacy scan heard. The fields of
/// a report stand together, one report after the other (5.2).
package struct LEAdvertisingReport: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x02) }
    package static var name: String { "LE Advertising Report" }

    /// The reports, one at least.
    package var reports: [AdvertisingReport] = []

    package init() {}

    package init(reports: [AdvertisingReport]) {
        self.reports = reports
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// One advertisement or scan response of LE Advertising Report.
package struct AdvertisingReport: PacketFields, Hashable, Sendable {
    /// The PDU.
    package var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser.
    package var address = BluetoothAddress.none
    /// The data, 31 octets at most.
    package var data: PacketBuffer = []
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8 = 0

    package init() {}

    package init(kind: LEAdvertisingReportKind, address: BluetoothAddress, data: PacketBuffer, rssi: Int8) {
        self.kind = kind
        self.address = address
        self.data = data
        self.rssi = rssi
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.countedBytes("Data", &data)
        try coder.field("RSSI", &rssi)
    }
}

/// LE Directed Advertising Report (Core Vol 4 Part E 7.7.65.11): advertisements to a private address that the
/// controller could not resolve.
package struct LEDirectedAdvertisingReport: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x0B) }
    package static var name: String { "LE Directed Advertising Report" }

    /// The reports, one at least.
    package var reports: [DirectedAdvertisingReport] = []

    package init() {}

    package init(reports: [DirectedAdvertisingReport]) {
        self.reports = reports
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// One advertisement of LE Directed Advertising Report.
package struct DirectedAdvertisingReport: PacketFields, Hashable, Sendable {
    /// The PDU: directed.
    package var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser.
    package var address = BluetoothAddress.none
    /// Whom it was for.
    package var directAddress = BluetoothAddress.none
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8 = 0

    package init() {}

    package init(kind: LEAdvertisingReportKind, address: BluetoothAddress, directAddress: BluetoothAddress, rssi: Int8)
    {
        self.kind = kind
        self.address = address
        self.directAddress = directAddress
        self.rssi = rssi
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.typedAddress("Direct_Address_Type", "Direct_Address", &directAddress)
        try coder.field("RSSI", &rssi)
    }
}
