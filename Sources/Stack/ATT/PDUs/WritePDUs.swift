import BluetoothTypes

/// ATT_WRITE_REQ (Core Vol 3 Part F 3.4.5.1).
package struct ATTWriteRequest: ATTPacket {
    package static let opcode = ATTOpcode.writeRequest
    package var handle: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)

    package init() {}
    package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_WRITE_RSP (Core Vol 3 Part F 3.4.5.2).
package struct ATTWriteResponse: ATTPacket {
    package static let opcode = ATTOpcode.writeResponse

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// ATT_WRITE_CMD (Core Vol 3 Part F 3.4.5.3).
package struct ATTWriteCommand: ATTPacket {
    package static let opcode = ATTOpcode.writeCommand
    package var handle: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)

    package init() {}
    package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_SIGNED_WRITE_CMD (Core Vol 3 Part F 3.4.5.4).
package struct ATTSignedWriteCommand: ATTPacket {
    /// The length of a signature: a counter of four octets and a message authentication code of eight (Vol 3 Part F
    /// 3.3.1).
    package static let signatureLength = 12

    package static let opcode = ATTOpcode.signedWriteCommand
    package var handle: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)
    /// The signature over everything before it.
    package var signature = PacketBuffer(headroom: 0)

    package init() {}

    package init(handle: UInt16, value: PacketBuffer, signature: PacketBuffer) {
        (self.handle, self.value, self.signature) = (handle, value, signature)
    }

    /// The signed octets: the PDU without the signature (Vol 3 Part F 3.3.1).
    package var message: PacketBuffer { ATTPDU.frame(Self.opcode, handle, value) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        let length = coder.isReading ? coder.remaining - Self.signatureLength : value.count
        try coder.bytes("Attribute Value", &value, count: length)
        try coder.bytes("Authentication Signature", &signature, count: Self.signatureLength)
    }
}

/// ATT_PREPARE_WRITE_REQ (Core Vol 3 Part F 3.4.6.1).
package struct ATTPrepareWriteRequest: ATTPacket {
    package static let opcode = ATTOpcode.prepareWriteRequest
    package var handle: UInt16 = 0
    package var offset: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)

    package init() {}

    package init(handle: UInt16, offset: UInt16, value: PacketBuffer) {
        (self.handle, self.offset, self.value) = (handle, offset, value)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.field("Value Offset", &offset)
        try coder.rest("Part Attribute Value", &value)
    }
}

/// ATT_PREPARE_WRITE_RSP, which echoes the request as the server received it (Core Vol 3 Part F 3.4.6.2).
package struct ATTPrepareWriteResponse: ATTPacket {
    package static let opcode = ATTOpcode.prepareWriteResponse
    package var handle: UInt16 = 0
    package var offset: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)

    package init() {}

    package init(_ request: ATTPrepareWriteRequest) {
        handle = request.handle
        offset = request.offset
        value = request.value
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.field("Value Offset", &offset)
        try coder.rest("Part Attribute Value", &value)
    }
}

/// ATT_EXECUTE_WRITE_REQ (Core Vol 3 Part F 3.4.6.3).
package struct ATTExecuteWriteRequest: ATTPacket {
    /// Whether to execute or discard the prepared writes.
    package struct Flags: WireValue {
        package var rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let cancel = Flags(rawValue: 0)
        package static let write = Flags(rawValue: 1)
    }

    package static let opcode = ATTOpcode.executeWriteRequest
    package var flags = Flags.cancel

    package init() {}

    package init(_ flags: Flags) { self.flags = flags }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Flags", &flags)
    }
}

/// ATT_EXECUTE_WRITE_RSP (Core Vol 3 Part F 3.4.6.4).
package struct ATTExecuteWriteResponse: ATTPacket {
    package static let opcode = ATTOpcode.executeWriteResponse

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
