import BluetoothTypes

/// The fields of an ATT PDU after its opcode (Core Vol 3 Part F 3.4). One description serves decoding, encoding and
/// printing.
package protocol ATTPacket: PacketFields, Hashable, Sendable {
    static var opcode: ATTOpcode { get }
}

extension ATTPacket {
    /// Encodes the PDU with its opcode, with headroom for the layers below.
    func framed(capacity: Int = 24) -> PacketBuffer {
        var buffer = PacketBuffer(capacity: capacity)
        buffer.append(Self.opcode.rawValue)
        write(to: &buffer)
        return buffer
    }
}

/// A handle range, as it begins a request.
package struct ATTHandleRange: PacketFields, Hashable, Sendable {
    package var start: UInt16 = 0
    /// The last handle, inclusive.
    package var end: UInt16 = 0

    package init() {}

    package init(_ start: UInt16, _ end: UInt16) { (self.start, self.end) = (start, end) }

    /// The range as a `ClosedRange`; nil if it is empty or begins at 0 (Core Vol 3 Part F 3.4.3.1).
    package var closed: ClosedRange<UInt16>? {
        start > 0 && start <= end ? start...end : nil
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Starting Handle", &start)
        try coder.field("Ending Handle", &end)
    }
}

extension FieldCoder {
    /// Decodes or encodes a UUID of 16 or 128 bits that extends to the end of the PDU (Core Vol 3 Part F 3.2.1).
    mutating func attributeType(_ name: String, _ uuid: inout BluetoothUUID) throws(PacketError) {
        try attributeType(name, &uuid, octets: isReading ? remaining : uuid.attributeForm.width.octets)
    }

    /// Decodes or encodes a UUID of 2 or 16 octets.
    mutating func attributeType(_ name: String, _ uuid: inout BluetoothUUID, octets: Int) throws(PacketError) {
        guard octets == 2 || octets == 16 else { throw PacketError(.length(octets), at: name) }
        if octets == 2 {
            var short = uuid.uint16 ?? 0
            try field(name, &short)
            if isReading { uuid = BluetoothUUID(short) }
        } else {
            var bytes = PacketBuffer(uuid.expanded.littleEndianBytes)
            try self.bytes(name, &bytes, count: 16)
            if isReading { uuid = BluetoothUUID(littleEndian: bytes) ?? uuid }
        }
        let shown = uuid
        note(name, "\(shown)")
    }

    /// Decodes or encodes elements of `size` octets that extend to the end of the PDU.
    mutating func elementsToEnd<T: PacketFields>(
        _ name: String,
        _ values: inout [T],
        size: Int
    ) throws(PacketError) {
        try elements(name, &values, count: isReading ? countToEnd(name, size: size) : values.count)
    }

    /// The number of elements of `size` octets that extend to the end of the PDU. At least one is required.
    func countToEnd(_ name: String, size: Int) throws(PacketError) -> Int {
        guard remaining > 0, remaining % size == 0 else { throw PacketError(.length(remaining), at: name) }
        return remaining / size
    }
}
