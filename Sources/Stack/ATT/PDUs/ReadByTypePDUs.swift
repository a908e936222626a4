import BluetoothTypes

/// ATT_READ_BY_TYPE_REQ (Core Vol 3 Part F 3.4.4.1).
package struct ATTReadByTypeRequest: ATTPacket {
    package static let opcode = ATTOpcode.readByTypeRequest
    package var range = ATTHandleRange()
    package var type: BluetoothUUID = 0

    package init() {}
    package init(_ range: ATTHandleRange, type: BluetoothUUID) { (self.range, self.type) = (range, type) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
        try coder.attributeType("Attribute Type", &type)
    }
}

/// ATT_READ_BY_TYPE_RSP (Core Vol 3 Part F 3.4.4.2).
package struct ATTReadByTypeResponse: ATTPacket {
    /// An attribute handle and value.
    package struct Entry: Hashable, Sendable {
        package var handle: UInt16
        /// The value, or its first part.
        package var value: PacketBuffer

        package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }
    }

    package static let opcode = ATTOpcode.readByTypeResponse
    /// The longest value of an entry, which the length field can express.
    package static let maximumValue = 253
    /// The length of each entry: the value's length plus two octets for the handle.
    package var length: UInt8 = 2
    /// The attributes found, at least one.
    package var entries: [Entry] = []

    package init() {}

    /// Creates a response. All values must be as long as the first, up to ``maximumValue`` octets.
    package init(_ entries: [Entry]) {
        self.entries = entries
        length = UInt8(clamping: 2 + (entries.first?.value.count ?? 0))
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Length", &length)
        // AB-A08: a length that does not cover the handle would make no progress.
        guard length >= 2 else { throw PacketError(.length(Int(length)), at: "Length") }
        if coder.isReading {
            let count = try coder.countToEnd("Attribute Data List", size: Int(length))
            entries = Array(repeating: Entry(handle: 0, value: PacketBuffer(headroom: 0)), count: count)
        }
        for index in entries.indices {
            try coder.field("Attribute Handle", &entries[index].handle)
            try coder.bytes("Attribute Value", &entries[index].value, count: Int(length) - 2)
        }
    }
}

/// ATT_READ_BY_GROUP_TYPE_REQ (Core Vol 3 Part F 3.4.4.9).
package struct ATTReadByGroupTypeRequest: ATTPacket {
    package static let opcode = ATTOpcode.readByGroupTypeRequest
    package var range = ATTHandleRange()
    package var type: BluetoothUUID = 0

    package init() {}
    package init(_ range: ATTHandleRange, type: BluetoothUUID) { (self.range, self.type) = (range, type) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
        try coder.attributeType("Attribute Group Type", &type)
    }
}

/// ATT_READ_BY_GROUP_TYPE_RSP (Core Vol 3 Part F 3.4.4.10).
package struct ATTReadByGroupTypeResponse: ATTPacket {
    /// A group and the value of its first attribute.
    package struct Entry: Hashable, Sendable {
        package var group: ATTHandleRange
        package var value: PacketBuffer

        package init(group: ATTHandleRange, value: PacketBuffer) { (self.group, self.value) = (group, value) }
    }

    package static let opcode = ATTOpcode.readByGroupTypeResponse
    /// The length of each entry: the value's length plus four octets for the two handles.
    package var length: UInt8 = 4
    /// The groups found, at least one.
    package var entries: [Entry] = []

    package init() {}

    /// Creates a response. All values must be as long as the first, up to 251 octets.
    package init(_ entries: [Entry]) {
        self.entries = entries
        length = UInt8(clamping: 4 + (entries.first?.value.count ?? 0))
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Length", &length)
        guard length >= 4 else { throw PacketError(.length(Int(length)), at: "Length") }
        if coder.isReading {
            let count = try coder.countToEnd("Attribute Data List", size: Int(length))
            let empty = Entry(group: ATTHandleRange(), value: PacketBuffer(headroom: 0))
            entries = Array(repeating: empty, count: count)
        }
        for index in entries.indices {
            try coder.field("Attribute Handle", &entries[index].group.start)
            try coder.field("End Group Handle", &entries[index].group.end)
            try coder.bytes("Attribute Value", &entries[index].value, count: Int(length) - 4)
        }
    }
}
