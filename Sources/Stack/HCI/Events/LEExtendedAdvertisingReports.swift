import BluetoothTypes

/// Advertising PDUs received by an extended scan, including legacy ones (Core Vol 4 Part E 7.7.65.13). Several reports
/// may contain the data of one advertisement.
package struct LEExtendedAdvertisingReport: HCIEvent {
    package static let entry = EventEntry(le: 0x0D, "LE Extended Advertising Report")

    package var reports: [ExtendedAdvertisingReport] = []

    package init() {}
    package init(reports: [ExtendedAdvertisingReport]) { self.reports = reports }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// An advertisement, a scan response, or a fragment of one, in LE Extended Advertising Report.
package struct ExtendedAdvertisingReport: PacketFields, Hashable, Sendable {
    /// The properties of the advertisement, and whether the data is complete.
    package var kind: LEExtendedReportKind = []
    /// The advertiser's address; type 0xFF if anonymous.
    package var address = BluetoothAddress.none
    package var primaryPHY = LEPHY(rawValue: 0)
    /// The PHY of the secondary channel; none if it was not used.
    package var secondaryPHY = LEPHY(rawValue: 0)
    /// The advertising SID, 0x00 to 0x0F; 0xFF for none.
    package var sid: UInt8 = 0
    /// The transmit power given in the packet, in dBm; 127 if absent.
    package var txPower: Int8 = 0
    /// The RSSI, in dBm, -127 to 20; 127 if unavailable.
    package var rssi: Int8 = 0
    /// The interval of periodic advertising, in units of 1.25 ms; 0 if there is none.
    package var periodicInterval: UInt16 = 0
    package var directAddress = BluetoothAddress.none
    /// The data, or a fragment of it, at most 229 octets.
    package var data: PacketBuffer = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.field("Primary_PHY", &primaryPHY)
        try coder.field("Secondary_PHY", &secondaryPHY)
        try coder.field("Advertising_SID", &sid)
        try coder.field("TX_Power", &txPower)
        try coder.field("RSSI", &rssi)
        try coder.field("Periodic_Advertising_Interval", &periodicInterval)
        try coder.typedAddress("Direct_Address_Type", "Direct_Address", &directAddress)
        try coder.countedBytes("Data", &data)
    }
}
