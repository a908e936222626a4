import BluetoothTypes

/// ATT_WRITE_REQ (Core Vol 3 Part F 3.4.5.1).
package struct ATTWriteRequest: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.writeRequest
    /// The attribute.
    package var handle: UInt16 = 0
    /// The new value.
    package var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// A write of a whole value.
    package init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_WRITE_RSP (Core Vol 3 Part F 3.4.5.2).
package struct ATTWriteResponse: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.writeResponse

    /// Success.
    package init() {}

    /// There are no fields.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// ATT_WRITE_CMD (Core Vol 3 Part F 3.4.5.3).
package struct ATTWriteCommand: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.writeCommand
    /// The attribute.
    package var handle: UInt16 = 0
    /// The new value.
    package var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// A write of a whole value that nobody answers.
    package init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_SIGNED_WRITE_CMD (Core Vol 3 Part F 3.4.5.4).
package struct ATTSignedWriteCommand: ATTPacket {
    /// Octets of the signature: four of a counter, eight of a code (Vol 3 Part F 3.3.1).
    package static let signatureLength = 12

    /// The PDU's first octet.
    package static let opcode = ATTOpcode.signedWriteCommand
    /// The attribute.
    package var handle: UInt16 = 0
    /// The new value.
    package var value = PacketBuffer(headroom: 0)
    /// The signature over all before it.
    package var signature = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// A write of a whole value, and what shows who made it.
    package init(handle: UInt16, value: PacketBuffer, signature: PacketBuffer) {
        self.handle = handle
        self.value = value
        self.signature = signature
    }

    /// What is signed: the PDU up to the signature (Vol 3 Part F 3.3.1).
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
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.prepareWriteRequest
    /// The attribute.
    package var handle: UInt16 = 0
    /// Where the part begins in the value.
    package var offset: UInt16 = 0
    /// A part of the value.
    package var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// A part to be written when the queue is executed.
    package init(handle: UInt16, offset: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.field("Value Offset", &offset)
        try coder.rest("Part Attribute Value", &value)
    }
}

/// ATT_PREPARE_WRITE_RSP: the request as the server understood it (Core Vol 3 Part F 3.4.6.2).
package struct ATTPrepareWriteResponse: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.prepareWriteResponse
    /// The attribute.
    package var handle: UInt16 = 0
    /// Where the part begins in the value.
    package var offset: UInt16 = 0
    /// A part of the value.
    package var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    package init() {}

    /// The echo of `request`.
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
    /// What becomes of the queue.
    package struct Flags: WireValue {
        package var rawValue: UInt8
        /// Any number, known or not.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Forget everything that was prepared.
        package static let cancel = Flags(rawValue: 0)
        /// Write everything that was prepared.
        package static let write = Flags(rawValue: 1)
    }

    /// The PDU's first octet.
    package static let opcode = ATTOpcode.executeWriteRequest
    /// What becomes of the queue.
    package var flags = Flags.cancel

    /// A cancellation.
    package init() {}

    /// The given flags.
    package init(_ flags: Flags) { self.flags = flags }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Flags", &flags)
    }
}

/// ATT_EXECUTE_WRITE_RSP (Core Vol 3 Part F 3.4.6.4).
package struct ATTExecuteWriteResponse: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.executeWriteResponse

    /// Success.
    package init() {}

    /// There are no fields.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
