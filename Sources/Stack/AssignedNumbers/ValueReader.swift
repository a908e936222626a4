import BluetoothTypes

/// Reads the fields of a characteristic in order. Everything that is missing throws.
struct ValueReader {
    private var reader: ByteReader

    init(_ value: PacketBuffer) {
        reader = ByteReader(value)
    }

    /// The number of octets left.
    var remaining: Int { reader.remaining }

    mutating func unsigned(_ octets: Int) throws(PacketError) -> UInt64 {
        var value: UInt64 = 0
        for (index, octet) in try reader.slice(octets, at: "Value").prefix(8).enumerated() {
            value |= UInt64(octet) << (8 * index)
        }
        return value
    }

    mutating func signed(_ octets: Int) throws(PacketError) -> Int64 {
        let unused = 64 - 8 * min(max(octets, 1), 8)
        return Int64(bitPattern: try unsigned(octets) << unused) >> unused
    }

    mutating func uint8() throws(PacketError) -> UInt8 { try reader.integer(at: "Value") }
    mutating func int8() throws(PacketError) -> Int8 { try reader.integer(at: "Value") }
    mutating func uint16() throws(PacketError) -> UInt16 { try reader.integer(at: "Value") }
    mutating func int16() throws(PacketError) -> Int16 { try reader.integer(at: "Value") }
    mutating func uint32() throws(PacketError) -> UInt32 { try reader.integer(at: "Value") }

    /// Reads an IEEE 11073 SFLOAT.
    mutating func shortFloat(exponent: Int = 0) throws(PacketError) -> MedicalFloat {
        MedicalFloat(short: try uint16(), exponent: exponent)
    }

    /// Reads an IEEE 11073 FLOAT.
    mutating func longFloat() throws(PacketError) -> MedicalFloat {
        MedicalFloat(long: try uint32())
    }

    mutating func rest() -> PacketBuffer { reader.rest() }

    /// Reads the rest as text in quotation marks.
    ///
    /// - Throws: An error if it is not UTF-8.
    mutating func quotedText() throws(PacketError) -> String {
        let octets = rest()
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw PacketError(.length(octets.count), at: "Text")
        }
        return ValueText.quoted(text)
    }
}
