import BluetoothTypes

/// ATT_HANDLE_VALUE_NTF (Core Vol 3 Part F 3.4.7.1).
package struct ATTHandleValueNotification: ATTPacket {
    package static let opcode = ATTOpcode.handleValueNotification
    package var handle: UInt16 = 0
    /// The value, or its first part.
    package var value = PacketBuffer(headroom: 0)

    package init() {}
    package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_HANDLE_VALUE_IND (Core Vol 3 Part F 3.4.7.2).
package struct ATTHandleValueIndication: ATTPacket {
    package static let opcode = ATTOpcode.handleValueIndication
    package var handle: UInt16 = 0
    /// The value, or its first part.
    package var value = PacketBuffer(headroom: 0)

    package init() {}
    package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_HANDLE_VALUE_CFM (Core Vol 3 Part F 3.4.7.3).
package struct ATTHandleValueConfirmation: ATTPacket {
    package static let opcode = ATTOpcode.handleValueConfirmation

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// ATT_MULTIPLE_HANDLE_VALUE_NTF (Core Vol 3 Part F 3.4.7.4).
package struct ATTMultipleHandleValueNotification: ATTPacket {
    /// An attribute handle and value.
    package struct Entry: Hashable, Sendable {
        package var handle: UInt16
        package var value: PacketBuffer

        package init(handle: UInt16, value: PacketBuffer) { (self.handle, self.value) = (handle, value) }
    }

    package static let opcode = ATTOpcode.multipleHandleValueNotification
    /// The attributes, two or more.
    package var entries: [Entry] = []

    package init() {}

    package init(_ entries: [Entry]) { self.entries = entries }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            entries = []
            repeat {
                var entry = Entry(handle: 0, value: PacketBuffer(headroom: 0))
                try Self.code(&entry, &coder)
                entries.append(entry)
            } while coder.remaining > 0
        } else {
            for index in entries.indices { try Self.code(&entries[index], &coder) }
        }
    }

    private static func code<C: FieldCoder>(_ entry: inout Entry, _ coder: inout C) throws(PacketError) {
        var length = UInt16(clamping: entry.value.count)
        try coder.field("Attribute Handle", &entry.handle)
        try coder.field("Value Length", &length)
        try coder.bytes("Attribute Value", &entry.value, count: Int(length))
    }
}
