import BluetoothTypes

/// The contents of a Characteristic Presentation Format descriptor, 0x2904 (Core Vol 3 Part G 3.3.3.5).
package struct ValueFormat: Hashable, Sendable {
    /// The format's number (Bluetooth Assigned Numbers 2.4.1).
    package var format: UInt8
    /// The decimal exponent of an integer.
    package var exponent: Int8
    /// The 16-bit UUID of the unit.
    package var unit: UInt16
    /// The namespace of ``description``: 1 for the Bluetooth SIG.
    package var namespace: UInt8
    /// A number that tells several values of a kind apart.
    package var meaning: UInt16

    /// Parses the value of the descriptor; nil if it does not have seven octets.
    package init?(_ value: PacketBuffer) {
        var reader = ValueReader(value)
        guard value.count == 7, let parsed = try? Self(parsing: &reader) else { return nil }
        self = parsed
    }

    init(parsing reader: inout ValueReader) throws(PacketError) {
        format = try reader.uint8()
        exponent = try reader.int8()
        unit = try reader.uint16()
        namespace = try reader.uint8()
        meaning = try reader.uint16()
    }

    /// The descriptor in words, such as `sint16, exponent -2, unit Celsius temperature (degree Celsius)`.
    var words: String {
        var words = [AssignedNumbers.format(format) ?? "format \(format)"]
        if exponent != 0 { words.append("exponent \(exponent)") }
        words.append("unit " + (AssignedNumbers.unit(unit) ?? AssignedNumbers.digits(unit)))
        if namespace == 1, meaning != 0 {
            words.append("description " + (AssignedNumbers.namespaceDescription(meaning) ?? "\(meaning)"))
        } else if namespace > 1 || meaning != 0 {
            words.append("description \(meaning) in namespace \(namespace)")
        }
        return words.joined(separator: ", ")
    }

    /// The layout that the descriptor gives a value; nil for bits, structures and numbers of other sizes.
    var layout: Layout? {
        let form: Layout.Field.Form
        switch format {
        case 0x01...0x04: form = .unsigned(octets: 1)
        case 0x05, 0x06: form = .unsigned(octets: 2)
        case 0x07: form = .unsigned(octets: 3)
        case 0x08: form = .unsigned(octets: 4)
        case 0x09: form = .unsigned(octets: 6)
        case 0x0C: form = .signed(octets: 1)
        case 0x0E: form = .signed(octets: 2)
        case 0x0F: form = .signed(octets: 3)
        case 0x10: form = .signed(octets: 4)
        case 0x11: form = .signed(octets: 6)
        case 0x12: form = .signed(octets: 8)
        case 0x16: form = .shortFloat
        case 0x17: form = .longFloat
        case 0x19: return .text
        default: return nil
        }
        return .numbers([Layout.Field(form: form, decimal: Int(exponent), unit: unit)])
    }
}
