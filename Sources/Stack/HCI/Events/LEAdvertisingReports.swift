import BluetoothTypes

/// Legacy advertising PDUs received by a legacy scan (Core Vol 4 Part E 7.7.65.2). The event contains one complete
/// report after the other (5.2).
package struct LEAdvertisingReport: HCIEvent {
    package static let entry = EventEntry(le: 0x02, "LE Advertising Report")

    package var reports: [AdvertisingReport] = []

    package init() {}
    package init(reports: [AdvertisingReport]) { self.reports = reports }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// An advertising PDU or scan response, in LE Advertising Report.
package struct AdvertisingReport: PacketFields, Hashable, Sendable {
    /// The PDU type, which tells whether the advertiser can be connected or scanned.
    package var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser's address, or its identity address if the controller resolved it.
    package var address = BluetoothAddress.none
    /// The data, at most 31 octets.
    package var data: PacketBuffer = []
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 0

    package init() {}

    package init(kind: LEAdvertisingReportKind, address: BluetoothAddress, data: PacketBuffer, rssi: Int8) {
        (self.kind, self.address, self.data, self.rssi) = (kind, address, data, rssi)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.countedBytes("Data", &data)
        try coder.field("RSSI", &rssi)
    }
}

/// Directed advertising PDUs whose target is a private address that the controller could not resolve (Core Vol 4 Part E
/// 7.7.65.11).
package struct LEDirectedAdvertisingReport: HCIEvent {
    package static let entry = EventEntry(le: 0x0B, "LE Directed Advertising Report")

    package var reports: [DirectedAdvertisingReport] = []

    package init() {}
    package init(reports: [DirectedAdvertisingReport]) { self.reports = reports }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// A directed advertising PDU, in LE Directed Advertising Report.
package struct DirectedAdvertisingReport: PacketFields, Hashable, Sendable {
    package var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser's address, or its identity address if the controller resolved it.
    package var address = BluetoothAddress.none
    package var directAddress = BluetoothAddress.none
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.typedAddress("Direct_Address_Type", "Direct_Address", &directAddress)
        try coder.field("RSSI", &rssi)
    }
}
