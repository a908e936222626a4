import BluetoothTypes

/// ATT_READ_BY_TYPE_REQ (Core Vol 3 Part F 3.4.4.1).
package struct ATTReadByTypeRequest: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.readByTypeRequest
    /// Where to look.
    package var range = ATTHandleRange()
    /// The type.
    package var type: BluetoothUUID = 0

    package init() {}

    /// A search for attributes of a type.
    package init(_ range: ATTHandleRange, type: BluetoothUUID) {
        self.range = range
        self.type = type
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
        try coder.attributeType("Attribute Type", &type)
    }
}

/// ATT_READ_BY_TYPE_RSP (Core Vol 3 Part F 3.4.4.2).
package struct ATTReadByTypeResponse: ATTPacket {
    /// An attribute and its value.
    package struct Entry: Hashable, Sendable {
        /// The attribute.
        package var handle: UInt16
        /// Its value, or the first part.
        package var value: PacketBuffer

        /// An attribute and its value.
        package init(handle: UInt16, value: PacketBuffer) {
            self.handle = handle
            self.value = value
        }
    }

    /// The PDU's first octet.
    package static let opcode = ATTOpcode.readByTypeResponse
    /// Octets of each entry: two more than its value has.
    package var length: UInt8 = 2
    /// The attributes found, at least one.
    package var entries: [Entry] = []

    /// Nothing found.
    package init() {}

    /// Attributes whose values are all as long as the first, up to 253 octets.
    package init(_ entries: [Entry]) {
        self.entries = entries
        length = UInt8(clamping: 2 + (entries.first?.value.count ?? 0))
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Length", &length)
        // AB-A08: a length that does not even hold the handle would make no progress.
        guard length >= 2 else { throw PacketError(.length(Int(length)), at: "Length") }
        if coder.isReading {
            let octets = coder.remaining
            guard octets > 0, octets % Int(length) == 0 else {
                throw PacketError(.length(octets), at: "Attribute Data List")
            }
            let empty = Entry(handle: 0, value: PacketBuffer(headroom: 0))
            entries = Array(repeating: empty, count: octets / Int(length))
        }
        for index in entries.indices {
            try coder.field("Attribute Handle", &entries[index].handle)
            try coder.bytes("Attribute Value", &entries[index].value, count: Int(length) - 2)
        }
    }
}

/// ATT_READ_BY_GROUP_TYPE_REQ (Core Vol 3 Part F 3.4.4.9).
package struct ATTReadByGroupTypeRequest: ATTPacket {
    /// The PDU's first octet.
    package static let opcode = ATTOpcode.readByGroupTypeRequest
    /// Where to look.
    package var range = ATTHandleRange()
    /// The type of the attribute that begins a group.
    package var type: BluetoothUUID = 0

    package init() {}

    /// A search for groups of a type.
    package init(_ range: ATTHandleRange, type: BluetoothUUID) {
        self.range = range
        self.type = type
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
        try coder.attributeType("Attribute Group Type", &type)
    }
}

/// ATT_READ_BY_GROUP_TYPE_RSP (Core Vol 3 Part F 3.4.4.10).
package struct ATTReadByGroupTypeResponse: ATTPacket {
    /// A group and the value of the attribute that begins it.
    package struct Entry: Hashable, Sendable {
        /// The group.
        package var group: ATTHandleRange
        /// The value of its first attribute.
        package var value: PacketBuffer

        /// A group and the value of the attribute that begins it.
        package init(group: ATTHandleRange, value: PacketBuffer) {
            self.group = group
            self.value = value
        }
    }

    /// The PDU's first octet.
    package static let opcode = ATTOpcode.readByGroupTypeResponse
    /// Octets of each entry: four more than its value has.
    package var length: UInt8 = 4
    /// The groups found, at least one.
    package var entries: [Entry] = []

    /// Nothing found.
    package init() {}

    /// Groups whose values are all as long as the first, up to 251 octets.
    package init(_ entries: [Entry]) {
        self.entries = entries
        length = UInt8(clamping: 4 + (entries.first?.value.count ?? 0))
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Length", &length)
        guard length >= 4 else { throw PacketError(.length(Int(length)), at: "Length") }
        if coder.isReading {
            let octets = coder.remaining
            guard octets > 0, octets % Int(length) == 0 else {
                throw PacketError(.length(octets), at: "Attribute Data List")
            }
            let empty = Entry(group: ATTHandleRange(), value: PacketBuffer(headroom: 0))
            entries = Array(repeating: empty, count: octets / Int(length))
        }
        for index in entries.indices {
            try coder.field("Attribute Handle", &entries[index].group.start)
            try coder.field("End Group Handle", &entries[index].group.end)
            try coder.bytes("Attribute Value", &entries[index].value, count: Int(length) - 4)
        }
    }
}
