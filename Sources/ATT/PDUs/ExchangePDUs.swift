import BluetoothTypes

/// ATT_ERROR_RSP (Core Vol 3 Part F 3.4.1.1).
public struct ATTErrorResponse: ATTPacket, Error {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.errorResponse
    /// The request that failed.
    public var request = ATTOpcode(rawValue: 0)
    /// The attribute that it failed at; 0 when there is none.
    public var handle: UInt16 = 0
    /// Why it failed.
    public var code = ATTErrorCode(rawValue: 0)

    /// All zero.
    public init() {}

    /// An error for `request` at `handle`.
    public init(_ code: ATTErrorCode, to request: ATTOpcode, at handle: UInt16 = 0) {
        self.request = request
        self.handle = handle
        self.code = code
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Request Opcode In Error", &request)
        try coder.field("Attribute Handle In Error", &handle)
        try coder.field("Error Code", &code)
    }
}

/// ATT_EXCHANGE_MTU_REQ (Core Vol 3 Part F 3.4.2.1).
public struct ATTExchangeMTURequest: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.exchangeMTURequest
    /// The longest PDU that the client takes.
    public var mtu: UInt16 = 0

    /// All zero.
    public init() {}

    /// The given size.
    public init(mtu: UInt16) { self.mtu = mtu }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Client Rx MTU", &mtu)
    }
}

/// ATT_EXCHANGE_MTU_RSP (Core Vol 3 Part F 3.4.2.2).
public struct ATTExchangeMTUResponse: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.exchangeMTUResponse
    /// The longest PDU that the server takes.
    public var mtu: UInt16 = 0

    /// All zero.
    public init() {}

    /// The given size.
    public init(mtu: UInt16) { self.mtu = mtu }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Server Rx MTU", &mtu)
    }
}
