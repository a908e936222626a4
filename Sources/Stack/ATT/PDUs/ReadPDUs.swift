import BluetoothTypes

/// ATT_READ_REQ (Core Vol 3 Part F 3.4.4.3).
package struct ATTReadRequest: ATTPacket {
    package static let opcode = ATTOpcode.readRequest
    package var handle: UInt16 = 0

    package init() {}

    package init(handle: UInt16) { self.handle = handle }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
    }
}

/// ATT_READ_RSP (Core Vol 3 Part F 3.4.4.4).
package struct ATTReadResponse: ATTPacket {
    package static let opcode = ATTOpcode.readResponse
    /// The value, or its first part.
    package var value = PacketBuffer(headroom: 0)

    package init() {}

    package init(value: PacketBuffer) { self.value = value }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_READ_BLOB_REQ (Core Vol 3 Part F 3.4.4.5).
package struct ATTReadBlobRequest: ATTPacket {
    package static let opcode = ATTOpcode.readBlobRequest
    package var handle: UInt16 = 0
    package var offset: UInt16 = 0

    package init() {}
    package init(handle: UInt16, offset: UInt16) { (self.handle, self.offset) = (handle, offset) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.field("Value Offset", &offset)
    }
}

/// ATT_READ_BLOB_RSP (Core Vol 3 Part F 3.4.4.6).
package struct ATTReadBlobResponse: ATTPacket {
    package static let opcode = ATTOpcode.readBlobResponse
    package var value = PacketBuffer(headroom: 0)

    package init() {}

    package init(value: PacketBuffer) { self.value = value }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Part Attribute Value", &value)
    }
}

/// A set of two or more handles that extends to the end of the PDU.
package struct ATTHandleSet: PacketFields, Hashable, Sendable {
    package var handles: [UInt16] = []

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            let octets = coder.remaining
            guard octets >= 4, octets % 2 == 0 else { throw PacketError(.length(octets), at: "Set Of Handles") }
            handles = Array(repeating: 0, count: octets / 2)
        }
        for index in handles.indices { try coder.field("Handle", &handles[index]) }
    }
}

/// ATT_READ_MULTIPLE_REQ (Core Vol 3 Part F 3.4.4.7).
package struct ATTReadMultipleRequest: ATTPacket {
    package static let opcode = ATTOpcode.readMultipleRequest
    /// The attributes to read, two or more.
    package var set = ATTHandleSet()

    package init() {}

    package init(handles: [UInt16]) { set.handles = handles }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try set.code(&coder)
    }
}

/// ATT_READ_MULTIPLE_RSP (Core Vol 3 Part F 3.4.4.8).
package struct ATTReadMultipleResponse: ATTPacket {
    package static let opcode = ATTOpcode.readMultipleResponse
    /// The concatenated values, truncated at the end of the PDU.
    package var values = PacketBuffer(headroom: 0)

    package init() {}

    package init(values: PacketBuffer) { self.values = values }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Set Of Values", &values)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_REQ (Core Vol 3 Part F 3.4.4.11).
package struct ATTReadMultipleVariableRequest: ATTPacket {
    package static let opcode = ATTOpcode.readMultipleVariableRequest
    /// The attributes to read, two or more.
    package var set = ATTHandleSet()

    package init() {}

    package init(handles: [UInt16]) { set.handles = handles }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try set.code(&coder)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_RSP (Core Vol 3 Part F 3.4.4.12).
package struct ATTReadMultipleVariableResponse: ATTPacket {
    /// A value and its full length.
    package struct Entry: Hashable, Sendable {
        /// The length of the complete value, in octets.
        package var length: UInt16
        /// The value. The last one of a response may be truncated.
        package var value: PacketBuffer

        package init(length: UInt16, value: PacketBuffer) { (self.length, self.value) = (length, value) }
    }

    package static let opcode = ATTOpcode.readMultipleVariableResponse
    package var entries: [Entry] = []

    package init() {}

    package init(_ entries: [Entry]) { self.entries = entries }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            entries = []
            repeat {
                var entry = Entry(length: 0, value: PacketBuffer(headroom: 0))
                try coder.field("Value Length", &entry.length)
                try coder.bytes("Value", &entry.value, count: min(Int(entry.length), coder.remaining))
                entries.append(entry)
            } while coder.remaining > 0
        } else {
            for index in entries.indices {
                try coder.field("Value Length", &entries[index].length)
                try coder.rest("Value", &entries[index].value)
            }
        }
    }
}
