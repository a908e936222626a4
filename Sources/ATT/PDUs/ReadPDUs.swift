import BluetoothTypes

/// ATT_READ_REQ (Core Vol 3 Part F 3.4.4.3).
public struct ATTReadRequest: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readRequest
    /// The attribute.
    public var handle: UInt16 = 0

    /// All zero.
    public init() {}

    /// A read of `handle`.
    public init(handle: UInt16) { self.handle = handle }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
    }
}

/// ATT_READ_RSP (Core Vol 3 Part F 3.4.4.4).
public struct ATTReadResponse: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readResponse
    /// The value, or its first part.
    public var value = PacketBuffer(headroom: 0)

    /// An empty value.
    public init() {}

    /// The given value.
    public init(value: PacketBuffer) { self.value = value }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Attribute Value", &value)
    }
}

/// ATT_READ_BLOB_REQ (Core Vol 3 Part F 3.4.4.5).
public struct ATTReadBlobRequest: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readBlobRequest
    /// The attribute.
    public var handle: UInt16 = 0
    /// The first octet wanted.
    public var offset: UInt16 = 0

    /// All zero.
    public init() {}

    /// A read of `handle` from `offset` on.
    public init(handle: UInt16, offset: UInt16) {
        self.handle = handle
        self.offset = offset
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Attribute Handle", &handle)
        try coder.field("Value Offset", &offset)
    }
}

/// ATT_READ_BLOB_RSP (Core Vol 3 Part F 3.4.4.6).
public struct ATTReadBlobResponse: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readBlobResponse
    /// A part of the value.
    public var value = PacketBuffer(headroom: 0)

    /// An empty part.
    public init() {}

    /// The given part.
    public init(value: PacketBuffer) { self.value = value }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Part Attribute Value", &value)
    }
}

/// Two handles or more, as many as there are octets.
public struct ATTHandleSet: PacketFields, Hashable, Sendable {
    /// The handles.
    public var handles: [UInt16] = []

    /// No handles.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            let octets = coder.remaining
            guard octets >= 4, octets % 2 == 0 else { throw PacketError(.length(octets), at: "Set Of Handles") }
            handles = Array(repeating: 0, count: octets / 2)
        }
        for index in handles.indices { try coder.field("Handle", &handles[index]) }
    }
}

/// ATT_READ_MULTIPLE_REQ (Core Vol 3 Part F 3.4.4.7).
public struct ATTReadMultipleRequest: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readMultipleRequest
    /// The attributes, two or more.
    public var set = ATTHandleSet()

    /// No attributes.
    public init() {}

    /// A read of several attributes.
    public init(handles: [UInt16]) { set.handles = handles }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try set.code(&coder)
    }
}

/// ATT_READ_MULTIPLE_RSP (Core Vol 3 Part F 3.4.4.8).
public struct ATTReadMultipleResponse: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readMultipleResponse
    /// The values one behind the other, cut where the PDU ends.
    public var values = PacketBuffer(headroom: 0)

    /// No values.
    public init() {}

    /// The given values.
    public init(values: PacketBuffer) { self.values = values }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.rest("Set Of Values", &values)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_REQ (Core Vol 3 Part F 3.4.4.11).
public struct ATTReadMultipleVariableRequest: ATTPacket {
    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readMultipleVariableRequest
    /// The attributes, two or more.
    public var set = ATTHandleSet()

    /// No attributes.
    public init() {}

    /// A read of several attributes.
    public init(handles: [UInt16]) { set.handles = handles }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try set.code(&coder)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_RSP (Core Vol 3 Part F 3.4.4.12).
public struct ATTReadMultipleVariableResponse: ATTPacket {
    /// A value with its length.
    public struct Entry: Hashable, Sendable {
        /// The length of the whole value.
        public var length: UInt16
        /// The value; the last one may be cut where the PDU ends.
        public var value: PacketBuffer

        /// A value that is cut or whole.
        public init(length: UInt16, value: PacketBuffer) {
            self.length = length
            self.value = value
        }
    }

    /// The PDU's first octet.
    public static let opcode = ATTOpcode.readMultipleVariableResponse
    /// The values.
    public var entries: [Entry] = []

    /// No values.
    public init() {}

    /// The given values.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
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
