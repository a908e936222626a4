import BluetoothTypes

/// The Characteristic Presentation Format descriptor, which describes how to display a value (Core Vol 3 Part G
/// 3.3.3.5).
package struct PresentationFormat: PacketFields, Hashable, Sendable {
    /// The data type of a value (Bluetooth Assigned Numbers 2.4.1).
    package struct Format: WireValue {
        package var rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// One bit, 0 for false.
        package static let boolean = Format(rawValue: 0x01)
        package static let uint8 = Format(rawValue: 0x04)
        package static let uint16 = Format(rawValue: 0x06)
        package static let sint16 = Format(rawValue: 0x0E)
        /// IEEE 754, 32 bits.
        package static let float32 = Format(rawValue: 0x14)
        /// IEEE 754, 64 bits.
        package static let float64 = Format(rawValue: 0x15)
        /// IEEE 11073-20601, 16 bits.
        package static let medfloat16 = Format(rawValue: 0x16)
        /// IEEE 11073-20601, 32 bits.
        package static let medfloat32 = Format(rawValue: 0x17)
        /// Two unsigned values of 16 bits.
        package static let duint16 = Format(rawValue: 0x18)
        /// Text in UTF-8, of any length.
        package static let utf8 = Format(rawValue: 0x19)
        /// Text in UTF-16, of any length.
        package static let utf16 = Format(rawValue: 0x1A)
        /// A structure defined by its service.
        package static let structure = Format(rawValue: 0x1B)

        private static let unsigned: [UInt8: Int] = [
            1: 1, 2: 2, 3: 4, 4: 8, 5: 12, 6: 16, 7: 24, 8: 32, 9: 48, 10: 64, 11: 128,
        ]
        private static let signed: [UInt8: Int] = [12: 8, 13: 12, 14: 16, 15: 24, 16: 32, 17: 48, 18: 64, 19: 128]

        /// The width of an integer in bits; nil for other formats.
        var integerBits: Int? { Self.unsigned[rawValue] ?? Self.signed[rawValue] }

        var isSigned: Bool { Self.signed[rawValue] != nil }

        /// The length of a value in octets; nil if it is variable or the format is unassigned.
        package var octets: Int? {
            if let integerBits { return (integerBits + 7) / 8 }
            return switch self {
            case .medfloat16: 2
            case .float32, .medfloat32, .duint16: 4
            case .float64: 8
            default: nil
            }
        }
    }

    package var format = Format(rawValue: 0)
    /// The power of ten by which an integer is multiplied.
    package var exponent: Int8 = 0
    /// The unit, a 16-bit UUID (Bluetooth Assigned Numbers 3.5).
    package var unit: UInt16 = 0
    /// The organization that defines ``detail``; 1 is the Bluetooth SIG.
    package var namespace: UInt8 = 1
    /// The description of the value, as defined by the name space.
    package var detail: UInt16 = 0

    package init() {}

    package init(_ format: Format, exponent: Int8 = 0, unit: UInt16, namespace: UInt8 = 1, detail: UInt16 = 0) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.detail = detail
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Format", &format)
        var bits = UInt8(bitPattern: exponent)
        try coder.field("Exponent", &bits)
        exponent = Int8(bitPattern: bits)
        try coder.field("Unit", &unit)
        try coder.field("Name Space", &namespace)
        try coder.field("Description", &detail)
    }
}

extension PresentationFormat {
    /// The value as text, without its unit; nil if it does not match the format.
    package func text(of value: PacketBuffer) -> String? {
        if let bits = format.integerBits { return integer(value, bits: bits) }
        if let octets = format.octets, value.count != octets { return nil }
        return switch format {
        case .float32: "\(Float(bitPattern: UInt32(truncatingIfNeeded: Self.bits(value))))"
        case .float64: "\(Double(bitPattern: UInt64(truncatingIfNeeded: Self.bits(value))))"
        case .medfloat16: Self.medical(Self.bits(value), mantissa: 12, exponent: 4)
        case .medfloat32: Self.medical(Self.bits(value), mantissa: 24, exponent: 8)
        case .duint16: "\(Self.bits(value) & 0xFFFF), \(Self.bits(value) >> 16)"
        case .utf8: String(decoding: value, as: UTF8.self)
        case .utf16: value.count % 2 == 0 ? Self.utf16(value) : nil
        default: hexadecimal(value)
        }
    }

    /// Splits an aggregate value into the parts that `formats` describe, in order (Core Vol 3 Part G 3.3.3.6). Returns
    /// nil if the lengths do not add up to that of the value.
    package static func split(_ value: PacketBuffer, by formats: [PresentationFormat]) -> [PacketBuffer]? {
        var parts: [PacketBuffer] = []
        var offset = 0
        for (index, format) in formats.enumerated() {
            // Only the last part may have a variable length.
            guard let octets = format.format.octets ?? (index == formats.count - 1 ? value.count - offset : nil),
                octets <= value.count - offset
            else { return nil }
            parts.append(value.slice(offset..<(offset + octets)))
            offset += octets
        }
        return offset == value.count ? parts : nil
    }

    private static func bits(_ value: PacketBuffer) -> UInt128 {
        var bits: UInt128 = 0
        for octet in value.prefix(upTo: 16).bytes.reversed() { bits = bits << 8 | UInt128(octet) }
        return bits
    }

    private static func signed(_ bits: UInt128, width: Int) -> Int128 {
        (Int128(truncatingIfNeeded: bits) << (128 - width)) >> (128 - width)
    }

    private func integer(_ value: PacketBuffer, bits width: Int) -> String? {
        guard value.count == (width + 7) / 8 else { return nil }
        let bits = Self.bits(value)
        guard format.isSigned else { return Self.decimal(bits, isNegative: false, exponent: Int(exponent)) }
        let number = Self.signed(bits, width: width)
        return Self.decimal(number.magnitude, isNegative: number < 0, exponent: Int(exponent))
    }

    private static func utf16(_ value: PacketBuffer) -> String {
        // The explicit type spares the compiler twelve seconds of type checking.
        let units = (0..<(value.count / 2)).map { (index: Int) -> UInt16 in
            let (low, high): (UInt8, UInt8) = (value[2 * index], value[2 * index + 1])
            return UInt16(low) | UInt16(high) << 8
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// An IEEE 11073-20601 number: an exponent above a mantissa, with five special values.
    private static func medical(_ bits: UInt128, mantissa: Int, exponent: Int) -> String {
        let number = signed(bits, width: mantissa)
        let power = signed(bits >> UInt128(mantissa), width: exponent)
        let limit = Int128(1) << (mantissa - 1)
        if power == 0 {
            switch number {
            case limit - 2: return "+infinity"
            case -limit + 2: return "-infinity"
            case limit - 1: return "not a number"
            case -limit: return "not at this resolution"
            case -limit + 1: return "reserved"
            default: break
            }
        }
        return decimal(number.magnitude, isNegative: number < 0, exponent: Int(power))
    }

    /// Formats a number times a power of ten in plain decimal notation.
    private static func decimal(_ magnitude: UInt128, isNegative: Bool, exponent: Int) -> String {
        var digits = String(magnitude)
        if exponent >= 0 {
            if magnitude != 0 { digits += String(repeating: "0", count: exponent) }
        } else {
            let missing = 1 - exponent - digits.count
            if missing > 0 { digits = String(repeating: "0", count: missing) + digits }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return (isNegative ? "-" : "") + digits
    }
}
