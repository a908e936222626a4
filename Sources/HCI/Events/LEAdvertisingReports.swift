import BluetoothTypes

/// LE Advertising Report (Core Vol 4 Part E 7.7.65.2): legacy advertisements that a legacy scan heard. The fields of
/// a report stand together, one report after the other (5.2).
public struct LEAdvertisingReport: LEEvent {
    /// The number among the LE events.
    public static var leSubevent: LESubevent { LESubevent(rawValue: 0x02) }
    /// The event's name.
    public static var name: String { "LE Advertising Report" }

    /// The reports, one at least.
    public var reports: [AdvertisingReport] = []

    /// An event with every parameter zero.
    public init() {}

    /// An event with these parameters.
    public init(reports: [AdvertisingReport]) {
        self.reports = reports
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// One advertisement or scan response of LE Advertising Report.
public struct AdvertisingReport: PacketFields, Hashable, Sendable {
    /// The PDU.
    public var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser.
    public var address = BluetoothAddress.none
    /// The data, 31 octets at most.
    public var data: PacketBuffer = []
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    public var rssi: Int8 = 0

    /// Every value zero.
    public init() {}

    /// A part with these values.
    public init(kind: LEAdvertisingReportKind, address: BluetoothAddress, data: PacketBuffer, rssi: Int8) {
        self.kind = kind
        self.address = address
        self.data = data
        self.rssi = rssi
    }

    /// Names the values.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.countedBytes("Data", &data)
        try coder.field("RSSI", &rssi)
    }
}

/// LE Directed Advertising Report (Core Vol 4 Part E 7.7.65.11): advertisements to a private address that the
/// controller could not resolve.
public struct LEDirectedAdvertisingReport: LEEvent {
    /// The number among the LE events.
    public static var leSubevent: LESubevent { LESubevent(rawValue: 0x0B) }
    /// The event's name.
    public static var name: String { "LE Directed Advertising Report" }

    /// The reports, one at least.
    public var reports: [DirectedAdvertisingReport] = []

    /// An event with every parameter zero.
    public init() {}

    /// An event with these parameters.
    public init(reports: [DirectedAdvertisingReport]) {
        self.reports = reports
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.reports(&reports)
    }
}

/// One advertisement of LE Directed Advertising Report.
public struct DirectedAdvertisingReport: PacketFields, Hashable, Sendable {
    /// The PDU: directed.
    public var kind = LEAdvertisingReportKind(rawValue: 0)
    /// The advertiser.
    public var address = BluetoothAddress.none
    /// Whom it was for.
    public var directAddress = BluetoothAddress.none
    /// How strong it was heard, in dBm, -127 to 20; 127 when it is not known.
    public var rssi: Int8 = 0

    /// Every value zero.
    public init() {}

    /// A part with these values.
    public init(kind: LEAdvertisingReportKind, address: BluetoothAddress, directAddress: BluetoothAddress, rssi: Int8) {
        self.kind = kind
        self.address = address
        self.directAddress = directAddress
        self.rssi = rssi
    }

    /// Names the values.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Event_Type", &kind)
        try coder.typedAddress("Address_Type", "Address", &address)
        try coder.typedAddress("Direct_Address_Type", "Direct_Address", &directAddress)
        try coder.field("RSSI", &rssi)
    }
}
