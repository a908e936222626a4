import BluetoothTypes

/// ATT_ERROR_RSP (Core Vol 3 Part F 3.4.1.1).
package struct ATTErrorResponse: ATTPacket, Error {
    package static let opcode = ATTOpcode.errorResponse
    package var request = ATTOpcode(rawValue: 0)
    /// The attribute at which the request failed; 0 if there is none.
    package var handle: UInt16 = 0
    package var code = ATTErrorCode(rawValue: 0)

    package init() {}

    package init(_ code: ATTErrorCode, to request: ATTOpcode, at handle: UInt16 = 0) {
        (self.request, self.handle, self.code) = (request, handle, code)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Request Opcode In Error", &request)
        try coder.field("Attribute Handle In Error", &handle)
        try coder.field("Error Code", &code)
    }
}

/// ATT_EXCHANGE_MTU_REQ (Core Vol 3 Part F 3.4.2.1).
package struct ATTExchangeMTURequest: ATTPacket {
    package static let opcode = ATTOpcode.exchangeMTURequest
    /// The longest PDU that the client accepts, in octets.
    package var mtu: UInt16 = 0

    package init() {}

    package init(mtu: UInt16) { self.mtu = mtu }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Client Rx MTU", &mtu)
    }
}

/// ATT_EXCHANGE_MTU_RSP (Core Vol 3 Part F 3.4.2.2).
package struct ATTExchangeMTUResponse: ATTPacket {
    package static let opcode = ATTOpcode.exchangeMTUResponse
    /// The longest PDU that the server accepts, in octets.
    package var mtu: UInt16 = 0

    package init() {}

    package init(mtu: UInt16) { self.mtu = mtu }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Server Rx MTU", &mtu)
    }
}
