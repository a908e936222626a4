import BluetoothTypes

/// ATT_HANDLE_VALUE_NTF (Core Vol 3 Part F 3.4.7.1).
public struct ATTHandleValueNotification: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.handleValueNotification
    /// The attribute.
    public var handle: UInt16 = 0
    /// Its value, or the first part.
    public var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    public init() {}

    /// A value that nobody confirms.
    public init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_HANDLE_VALUE_IND (Core Vol 3 Part F 3.4.7.2).
public struct ATTHandleValueIndication: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.handleValueIndication
    /// The attribute.
    public var handle: UInt16 = 0
    /// Its value, or the first part.
    public var value = PacketBuffer(headroom: 0)

    /// All zero and empty.
    public init() {}

    /// A value that the client confirms.
    public init(handle: UInt16, value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_HANDLE_VALUE_CFM (Core Vol 3 Part F 3.4.7.3).
public struct ATTHandleValueConfirmation: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.handleValueConfirmation

    /// The confirmation.
    public init() {}

    /// There are no fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// ATT_MULTIPLE_HANDLE_VALUE_NTF (Core Vol 3 Part F 3.4.7.4).
public struct ATTMultipleHandleValueNotification: ATTPacket {
    /// An attribute and its value.
    public struct Entry: Hashable, Sendable {
        /// The attribute.
        public var handle: UInt16
        /// Its value.
        public var value: PacketBuffer

        /// An attribute and its value.
        public init(handle: UInt16, value: PacketBuffer) {
            self.handle = handle
            self.value = value
        }
    }

    /// The PDU's first octet.
    public static let opcode = ATTOpcode.multipleHandleValueNotification
    /// The attributes, two or more.
    public var entries: [Entry] = []

    /// No attributes.
    public init() {}

    /// The given attributes.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
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
