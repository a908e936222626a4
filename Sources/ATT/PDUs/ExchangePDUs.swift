import BluetoothTypes

/// ATT_ERROR_RSP (Core Vol 3 Part F 3.4.1.1).
package struct ATTErrorResponse: ATTPacket, Error {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.errorResponse
    /// The request that failed.
    package var request = ATTOpcode(rawValue: 0)
    /// The attribute that it failed at; 0 when there is none.
    package var handle: UInt16 = 0
    /// Why it failed.
    package var code = ATTErrorCode(rawValue: 0)

    package init() {}

    /// An error for `request` at `handle`.
    package init(_ code: ATTErrorCode, to request: ATTOpcode, at handle: UInt16 = 0) {
        self.request = request
        self.handle = handle
        self.code = code
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Request Opcode In Error", &request)
        try coder.field("Attribute Handle In Error", &handle)
        try coder.field("Error Code", &code)
    }
}

/// ATT_EXCHANGE_MTU_REQ (Core Vol 3 Part F 3.4.2.1).
package struct ATTExchangeMTURequest: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.exchangeMTURequest
    /// The longest PDU that the client takes.
    package var mtu: UInt16 = 0

    package init() {}

    /// The given size.
    package init(mtu: UInt16) { self.mtu = mtu }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Client Rx MTU", &mtu)
    }
}

/// ATT_EXCHANGE_MTU_RSP (Core Vol 3 Part F 3.4.2.2).
package struct ATTExchangeMTUResponse: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.exchangeMTUResponse
    /// The longest PDU that the server takes.
    package var mtu: UInt16 = 0

    package init() {}

    /// The given size.
    package init(mtu: UInt16) { self.mtu = mtu }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Server Rx MTU", &mtu)
    }
}
