import BluetoothTypes

/// ATT_FIND_INFORMATION_REQ (Core Vol 3 Part F 3.4.3.1).
package struct ATTFindInformationRequest: ATTPacket {
    package static let opcode = ATTOpcode.findInformationRequest
    package var range = ATTHandleRange()

    package init() {}

    package init(_ range: ATTHandleRange) { self.range = range }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
    }
}

/// ATT_FIND_INFORMATION_RSP (Core Vol 3 Part F 3.4.3.2).
package struct ATTFindInformationResponse: ATTPacket {
    /// An attribute handle and type.
    package struct Entry: Hashable, Sendable {
        package var handle: UInt16
        package var type: BluetoothUUID

        package init(handle: UInt16, type: BluetoothUUID) { (self.handle, self.type) = (handle, type) }
    }

    package static let opcode = ATTOpcode.findInformationResponse
    /// 1 when the types are 16 bits wide, 2 when they are 128 bits wide.
    package var format: UInt8 = 1
    /// The attributes found, at least one.
    package var entries: [Entry] = []

    package init() {}

    /// Creates a response. All types must be as wide as the first.
    package init(_ entries: [Entry]) {
        self.entries = entries
        format = entries.first?.type.uint16 == nil ? 2 : 1
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Format", &format)
        guard format == 1 || format == 2 else { throw PacketError(.value(UInt64(format)), at: "Format") }
        let width = format == 1 ? 2 : 16
        if coder.isReading {
            let count = try coder.countToEnd("Information Data", size: 2 + width)
            entries = Array(repeating: Entry(handle: 0, type: 0), count: count)
        }
        for index in entries.indices {
            try coder.field("Handle", &entries[index].handle)
            try coder.attributeType("UUID", &entries[index].type, octets: width)
        }
    }
}

/// ATT_FIND_BY_TYPE_VALUE_REQ (Core Vol 3 Part F 3.4.3.3).
package struct ATTFindByTypeValueRequest: ATTPacket {
    package static let opcode = ATTOpcode.findByTypeValueRequest
    package var range = ATTHandleRange()
    /// The attribute type, always a 16-bit UUID.
    package var type: UInt16 = 0
    package var value = PacketBuffer(headroom: 0)

    package init() {}

    package init(_ range: ATTHandleRange, type: UInt16, value: PacketBuffer) {
        (self.range, self.type, self.value) = (range, type, value)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try range.code(&coder)
        try coder.field("Attribute Type", &type)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_FIND_BY_TYPE_VALUE_RSP (Core Vol 3 Part F 3.4.3.4).
package struct ATTFindByTypeValueResponse: ATTPacket {
    package static let opcode = ATTOpcode.findByTypeValueResponse
    /// The attributes found, each with the last handle of its group; at least one.
    package var groups: [ATTHandleRange] = []

    package init() {}

    package init(_ groups: [ATTHandleRange]) { self.groups = groups }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.elementsToEnd("Handles Information", &groups, size: 4)
    }
}
