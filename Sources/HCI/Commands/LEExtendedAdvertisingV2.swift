import BluetoothTypes

/// LE Set Extended Advertising Parameters [v2] (Core Vol 4 Part E 7.8.53): makes a set, or tells how it
/// advertises, with the coding of the Coded PHY.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// The power that the controller took.
    package typealias Response = LESetExtendedAdvertisingParameters.Response

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x007F) }
    /// The command's name.
    package static var name: String { "LE Set Extended Advertising Parameters [v2]" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 46, bit: 2) }

    /// The advertising set, 0x00 to 0xEF.
    package var set: UInt8 = 0
    /// What the set does.
    package var properties: LEAdvertisingProperties = []
    /// The shortest time between two events, in units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var intervalMin: UInt32 = 0
    /// The longest time between two events, in units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var intervalMax: UInt32 = 0
    /// The primary channels, one at least.
    package var channels: LEAdvertisingChannels = []
    /// The address that is used on the air.
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    /// For directed advertising, whom it is for; also selects the entry of the resolving list.
    package var peerAddress = BluetoothAddress.none
    /// Whom to answer.
    package var filterPolicy = LEAdvertisingFilterPolicy(rawValue: 0)
    /// The wished transmit power in dBm, -127 to 20; 127 for no wish.
    package var txPower: Int8 = 0
    /// The PHY of the primary channels: 1M or Coded.
    package var primaryPHY = LEPHY(rawValue: 0)
    /// How many events may pass before the auxiliary packet is sent.
    package var secondaryMaxSkip: UInt8 = 0
    /// The PHY of the secondary channels.
    package var secondaryPHY = LEPHY(rawValue: 0)
    /// What tells this device's sets apart on the air, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// Whether scan requests are reported.
    package var notifiesScanRequests = false
    /// The coding of the primary channels, when their PHY is Coded.
    package var primaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)
    /// The coding of the secondary channels, when their PHY is Coded.
    package var secondaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(
        set: UInt8,
        properties: LEAdvertisingProperties,
        intervalMin: UInt32,
        intervalMax: UInt32,
        channels: LEAdvertisingChannels,
        ownAddressKind: OwnAddressKind,
        peerAddress: BluetoothAddress,
        filterPolicy: LEAdvertisingFilterPolicy,
        txPower: Int8,
        primaryPHY: LEPHY,
        secondaryMaxSkip: UInt8,
        secondaryPHY: LEPHY,
        sid: UInt8,
        notifiesScanRequests: Bool,
        primaryPHYOptions: LEAdvertisingPHYOptions,
        secondaryPHYOptions: LEAdvertisingPHYOptions
    ) {
        self.set = set
        self.properties = properties
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.channels = channels
        self.ownAddressKind = ownAddressKind
        self.peerAddress = peerAddress
        self.filterPolicy = filterPolicy
        self.txPower = txPower
        self.primaryPHY = primaryPHY
        self.secondaryMaxSkip = secondaryMaxSkip
        self.secondaryPHY = secondaryPHY
        self.sid = sid
        self.notifiesScanRequests = notifiesScanRequests
        self.primaryPHYOptions = primaryPHYOptions
        self.secondaryPHYOptions = secondaryPHYOptions
    }

    /// Names the parameters.
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
        try coder.field("Primary_Advertising_PHY_Options", &primaryPHYOptions)
        try coder.field("Secondary_Advertising_PHY_Options", &secondaryPHYOptions)
    }
}
