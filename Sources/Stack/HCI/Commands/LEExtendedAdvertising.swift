import BluetoothTypes

/// Sets the random address of an advertising set (Core Vol 4 Part E 7.8.52).
package struct LESetAdvertisingSetRandomAddress: HCICommand {
    package static let entry = CommandEntry(.le, 0x35, "LE Set Advertising Set Random Address", bit: (36, 1))

    package var set: UInt8 = 0
    /// The random device address of this set alone.
    package var address = BluetoothAddress(0, kind: .randomDevice)

    package init() {}

    package init(set: UInt8, address: BluetoothAddress = BluetoothAddress(0, kind: .randomDevice)) {
        (self.set, self.address) = (set, address)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.address("Random_Address", &address)
    }
}

/// Creates an advertising set, or changes its parameters (Core Vol 4 Part E 7.8.53).
package struct LESetExtendedAdvertisingParameters: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The transmit power that the controller selected, in dBm, -127 to 20.
        package var selectedTxPower: Int8 = 0

        package init() {}

        package init(status: HCIStatus = .success, selectedTxPower: Int8) {
            (self.status, self.selectedTxPower) = (status, selectedTxPower)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Selected_TX_Power", &selectedTxPower)
        }
    }

    package static let entry = CommandEntry(.le, 0x36, "LE Set Extended Advertising Parameters [v1]", bit: (36, 2))

    package var set: UInt8 = 0
    package var properties: LEAdvertisingProperties = []
    /// The minimum advertising interval, in units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var intervalMin: UInt32 = 0
    /// The maximum advertising interval, in units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var intervalMax: UInt32 = 0
    /// The primary channels, at least one.
    package var channels: LEAdvertisingChannels = []
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    /// The target of directed advertising; it also selects the entry of the resolving list.
    package var peerAddress = BluetoothAddress.none
    package var filterPolicy = LEAdvertisingFilterPolicy(rawValue: 0)
    /// The preferred transmit power, in dBm, -127 to 20; 127 for no preference.
    package var txPower: Int8 = 0
    /// The PHY of the primary channels: 1M or Coded.
    package var primaryPHY = LEPHY(rawValue: 0)
    /// The maximum number of advertising events that may be skipped before the auxiliary packet is sent.
    package var secondaryMaxSkip: UInt8 = 0
    package var secondaryPHY = LEPHY(rawValue: 0)
    /// The advertising SID, 0x00 to 0x0F, which identifies the set on the air.
    package var sid: UInt8 = 0
    package var notifiesScanRequests = false

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Advertising_Event_Properties", &properties)
        try coder.uint24("Primary_Advertising_Interval_Min", &intervalMin)
        try coder.uint24("Primary_Advertising_Interval_Max", &intervalMax)
        try coder.field("Primary_Advertising_Channel_Map", &channels)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        try coder.field("Advertising_Filter_Policy", &filterPolicy)
        try coder.field("Advertising_TX_Power", &txPower)
        try coder.field("Primary_Advertising_PHY", &primaryPHY)
        try coder.field("Secondary_Advertising_Max_Skip", &secondaryMaxSkip)
        try coder.field("Secondary_Advertising_PHY", &secondaryPHY)
        try coder.field("Advertising_SID", &sid)
        try coder.field("Scan_Request_Notification_Enable", &notifiesScanRequests)
    }
}

/// Sets the advertising data of a set, or a fragment of it (Core Vol 4 Part E 7.8.54).
package struct LESetExtendedAdvertisingData: HCICommand {
    package static let entry = CommandEntry(.le, 0x37, "LE Set Extended Advertising Data", bit: (36, 3))

    package var set: UInt8 = 0
    package var operation = LEDataOperation(rawValue: 0)
    /// 0 if the controller may fragment the data, 1 if it should not.
    package var fragmentPreference: UInt8 = 0
    /// The fragment, at most 251 octets.
    package var data: PacketBuffer = []

    package init() {}

    package init(set: UInt8, operation: LEDataOperation, fragmentPreference: UInt8, data: PacketBuffer) {
        (self.set, self.operation, self.fragmentPreference, self.data) = (set, operation, fragmentPreference, data)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Operation", &operation)
        try coder.field("Fragment_Preference", &fragmentPreference)
        try coder.dataFragment("Advertising_Data", &data)
    }
}

/// Sets the scan response data of a set, or a fragment of it (Core Vol 4 Part E 7.8.55).
package struct LESetExtendedScanResponseData: HCICommand {
    package static let entry = CommandEntry(.le, 0x38, "LE Set Extended Scan Response Data", bit: (36, 4))

    package var set: UInt8 = 0
    package var operation = LEDataOperation(rawValue: 0)
    /// 0 if the controller may fragment the data, 1 if it should not.
    package var fragmentPreference: UInt8 = 0
    /// The fragment, at most 251 octets.
    package var data: PacketBuffer = []

    package init() {}

    package init(set: UInt8, operation: LEDataOperation, fragmentPreference: UInt8, data: PacketBuffer) {
        (self.set, self.operation, self.fragmentPreference, self.data) = (set, operation, fragmentPreference, data)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Operation", &operation)
        try coder.field("Fragment_Preference", &fragmentPreference)
        try coder.dataFragment("Scan_Response_Data", &data)
    }
}

/// Starts or stops the advertising of sets (Core Vol 4 Part E 7.8.56). Disabling with an empty list disables all sets.
package struct LESetExtendedAdvertisingEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x39, "LE Set Extended Advertising Enable", bit: (36, 5))

    package var isEnabled = false
    /// The sets, at most 63.
    package var sets: [AdvertisingSetEnable] = []

    package init() {}
    package init(isEnabled: Bool, sets: [AdvertisingSetEnable]) { (self.isEnabled, self.sets) = (isEnabled, sets) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Enable", &isEnabled)
        try coder.list("Num_Sets", "Set", &sets)
    }
}

/// The limits for the advertising of a set, in LE Set Extended Advertising Enable.
package struct AdvertisingSetEnable: PacketFields, Hashable, Sendable {
    package var set: UInt8 = 0
    /// The duration, in units of 10 ms; 0 for no limit.
    package var duration: UInt16 = 0
    /// The maximum number of advertising events; 0 for no limit.
    package var maxEvents: UInt8 = 0

    package init() {}

    package init(set: UInt8, duration: UInt16, maxEvents: UInt8) {
        (self.set, self.duration, self.maxEvents) = (set, duration, maxEvents)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Duration", &duration)
        try coder.field("Max_Extended_Advertising_Events", &maxEvents)
    }
}

/// Reads the maximum length of a set's advertising data (Core Vol 4 Part E 7.8.57).
package struct LEReadMaximumAdvertisingDataLength: ValueCommand {
    package static let entry = CommandEntry(.le, 0x3A, "LE Read Maximum Advertising Data Length", bit: (36, 6))
    /// The maximum length, in octets, 0x001F to 0x0672.
    package typealias Value = UInt16
    package static let valueName = "Max_Advertising_Data_Length"

    package init() {}
}

/// Reads the number of advertising sets that the controller supports at present (Core Vol 4 Part E 7.8.58).
package struct LEReadNumberOfSupportedAdvertisingSets: ValueCommand {
    package static let entry = CommandEntry(.le, 0x3B, "LE Read Number of Supported Advertising Sets", bit: (36, 7))
    /// The number of sets, 1 to 240.
    package typealias Value = UInt8
    package static let valueName = "Num_Supported_Advertising_Sets"

    package init() {}
}

/// Removes an advertising set (Core Vol 4 Part E 7.8.59).
package struct LERemoveAdvertisingSet: HCICommand {
    package static let entry = CommandEntry(.le, 0x3C, "LE Remove Advertising Set", bit: (37, 0))

    package var set: UInt8 = 0

    package init() {}
    package init(set: UInt8) { self.set = set }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
    }
}

/// Removes all advertising sets (Core Vol 4 Part E 7.8.60).
package struct LEClearAdvertisingSets: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x3D, "LE Clear Advertising Sets", bit: (37, 1))

    package init() {}
}

/// Creates an advertising set or changes its parameters, including the coding on the Coded PHY (Core Vol 4 Part E
/// 7.8.53).
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// The return parameters of version 1: the status and the transmit power that the controller selected.
    package typealias Response = LESetExtendedAdvertisingParameters.Response

    package static let entry = CommandEntry(.le, 0x7F, "LE Set Extended Advertising Parameters [v2]", bit: (46, 2))

    package var v1 = LESetExtendedAdvertisingParameters()
    /// The coding on the primary channels if their PHY is Coded.
    package var primaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)
    /// The coding on the secondary channels if their PHY is Coded.
    package var secondaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Primary_Advertising_PHY_Options", &primaryPHYOptions)
        try coder.field("Secondary_Advertising_PHY_Options", &secondaryPHYOptions)
    }
}
