import BluetoothTypes

/// LE Read Local P-256 Public Key Complete (Core Vol 4 Part E 7.7.65.8): the public key of the pair that the
/// controller has drawn.
public struct LEReadLocalP256PublicKeyComplete: LEEvent {
    /// The number among the LE events.
    public static var leSubevent: LESubevent { LESubevent(rawValue: 0x08) }
    /// The event's name.
    public static var name: String { "LE Read Local P-256 Public Key Complete" }

    /// Whether and why it failed.
    public var status = HCIStatus.success
    /// The x coordinate, 32 octets, least significant first.
    public var x: PacketBuffer = []
    /// The y coordinate, 32 octets, least significant first.
    public var y: PacketBuffer = []

    /// An event with every parameter zero.
    public init() {}

    /// An event with these parameters.
    public init(status: HCIStatus = HCIStatus.success, x: PacketBuffer, y: PacketBuffer) {
        self.status = status
        self.x = x
        self.y = y
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.bytes("Key_X_Coordinate", &x, count: 32)
        try coder.bytes("Key_Y_Coordinate", &y, count: 32)
    }
}

/// LE Generate DHKey Complete (Core Vol 4 Part E 7.7.65.9): the shared secret that the controller has computed.
public struct LEGenerateDHKeyComplete: LEEvent {
    /// The number among the LE events.
    public static var leSubevent: LESubevent { LESubevent(rawValue: 0x09) }
    /// The event's name.
    public static var name: String { "LE Generate DHKey Complete" }

    /// Whether and why it failed.
    public var status = HCIStatus.success
    /// The secret, 32 octets, least significant first.
    public var key: PacketBuffer = []

    /// An event with every parameter zero.
    public init() {}

    /// An event with these parameters.
    public init(status: HCIStatus = HCIStatus.success, key: PacketBuffer) {
        self.status = status
        self.key = key
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.secret("DH_Key", &key, count: 32)
    }
}
