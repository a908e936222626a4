import BluetoothTypes

/// LE Extended Advertising Report (Core Vol 4 Part E 7.7.65.13): advertisements that an extended scan heard, legacy
/// ones among them. The data of one advertisement may come in several reports.
public struct LEExtendedAdvertisingReport: LEEvent {
    /// The number among the LE events.
    public static var leSubevent: LESubevent { LESubevent(rawValue: 0x0D) }
    /// The event's name.
    public static var name: String { "LE Extended Advertising Report" }

    /// The reports, one at least.
    public var reports: [ExtendedAdvertisingReport] = []

    /// An event with every parameter zero.
    public init() {}

    /// An event with these parameters.
    public init(reports: [ExtendedAdvertisingReport]) {
        self.reports = reports
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// One advertisement, scan response or part of one of LE Extended Advertising Report.
public struct ExtendedAdvertisingReport: PacketFields, Hashable, Sendable {
    /// What it is about.
    public var kind: LEExtendedReportKind = []
    /// The advertiser; type 0xFF when it is anonymous.
    public var address = BluetoothAddress.none
    /// The PHY of the primary channel.
    public var primaryPHY = LEPHY(rawValue: 0)
    /// The PHY of the secondary channel, if one was used.
    public var secondaryPHY = LEPHY(rawValue: 0)
    /// Which of the advertiser's sets it is, 0x00 to 0x0F; 0xFF for none.
    public var sid: UInt8 = 0
    /// The transmit power that it names, in dBm; 127 for none.
    public var txPower: Int8 = 0
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    public var rssi: Int8 = 0
    /// The interval of periodic advertising, in units of 1.25 ms; 0 for none.
    public var periodicInterval: UInt16 = 0
    /// Whom it was for, when directed.
    public var directAddress = BluetoothAddress.none
    /// The data, or a part of them, 229 octets at most.
    public var data: PacketBuffer = []

    /// Every value zero.
    public init() {}

    /// A part with these values.
    public init(
        kind: LEExtendedReportKind,
        address: BluetoothAddress,
        primaryPHY: LEPHY,
        secondaryPHY: LEPHY,
        sid: UInt8,
        txPower: Int8,
        rssi: Int8,
        periodicInterval: UInt16,
        directAddress: BluetoothAddress,
        data: PacketBuffer
    ) {
        self.kind = kind
        self.address = address
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        self.sid = sid
        self.txPower = txPower
        self.rssi = rssi
        self.periodicInterval = periodicInterval
        self.directAddress = directAddress
        self.data = data
    }

    /// Names the values.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
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
