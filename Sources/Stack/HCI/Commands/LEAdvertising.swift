import BluetoothTypes

/// Sets the parameters of legacy advertising (Core Vol 4 Part E 7.8.5).
package struct LESetAdvertisingParameters: HCICommand {
    package static let entry = CommandEntry(.le, 0x06, "LE Set Advertising Parameters", bit: (25, 5))

    /// The minimum advertising interval, in units of 0.625 ms, 0x0020 to 0x4000.
    package var intervalMin: UInt16 = 0
    /// The maximum advertising interval, in units of 0.625 ms, 0x0020 to 0x4000.
    package var intervalMax: UInt16 = 0
    package var kind = LEAdvertisingKind(rawValue: 0)
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    /// The target of directed advertising; it also selects the entry of the resolving list.
    package var peerAddress = BluetoothAddress.none
    /// The primary channels, at least one.
    package var channels: LEAdvertisingChannels = []
    package var filterPolicy = LEAdvertisingFilterPolicy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Interval_Min", &intervalMin)
        try coder.field("Advertising_Interval_Max", &intervalMax)
        try coder.field("Advertising_Type", &kind)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        try coder.field("Advertising_Channel_Map", &channels)
        try coder.field("Advertising_Filter_Policy", &filterPolicy)
    }
}

/// Reads the transmit power of legacy advertising (Core Vol 4 Part E 7.8.6).
package struct LEReadAdvertisingPhysicalChannelTxPower: ValueCommand {
    package static let entry = CommandEntry(.le, 0x07, "LE Read Advertising Physical Channel Tx Power", bit: (25, 6))
    /// The power, in dBm, -127 to 20.
    package typealias Value = Int8
    package static let valueName = "TX_Power_Level"

    package init() {}
}

/// Sets the advertising data (Core Vol 4 Part E 7.8.7).
package struct LESetAdvertisingData: HCICommand {
    package static let entry = CommandEntry(.le, 0x08, "LE Set Advertising Data", bit: (25, 7))

    /// The data, at most 31 octets.
    package var data: PacketBuffer = []

    package init() {}
    package init(data: PacketBuffer) { self.data = data }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.advertisingData("Advertising_Data", &data)
    }
}

/// Sets the scan response data (Core Vol 4 Part E 7.8.8).
package struct LESetScanResponseData: HCICommand {
    package static let entry = CommandEntry(.le, 0x09, "LE Set Scan Response Data", bit: (26, 0))

    /// The data, at most 31 octets.
    package var data: PacketBuffer = []

    package init() {}
    package init(data: PacketBuffer) { self.data = data }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.advertisingData("Scan_Response_Data", &data)
    }
}

/// Starts or stops advertising (Core Vol 4 Part E 7.8.9).
package struct LESetAdvertisingEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x0A, "LE Set Advertising Enable", bit: (26, 1))

    package var isEnabled = false

    package init() {}
    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Enable", &isEnabled)
    }
}
