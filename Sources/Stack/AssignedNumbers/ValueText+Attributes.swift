import BluetoothTypes

// The characteristics of the Generic Access and Generic Attribute services, and the descriptors.

extension ValueText {
    static func gap(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        // Device Name (Core Vol 3 Part C 12.1)
        case 0x2A00: try reader.quotedText()
        case 0x2A01: appearance(try reader.uint16())
        case 0x2A02: choice(try reader.uint8(), ["privacy off", "privacy on"])
        case 0x2A04: try preferredParameters(&reader)
        // Central Address Resolution and Resolvable Private Address Only (Core Vol 3 Part C 12.4, 12.5)
        case 0x2AA6: choice(try reader.uint8(), ["not supported", "supported"])
        case 0x2AC9: choice(try reader.uint8(), ["resolvable private addresses only"])
        default: nil
        }
    }

    static func attributes(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        // Service Changed (Core Vol 3 Part G 7.1)
        case 0x2A05: "handles \(handle(try reader.uint16())) to \(handle(try reader.uint16()))"
        // Client and Server Supported Features (Core Vol 3 Part G 7.2, 7.4)
        case 0x2B29:
            bits(
                try features(&reader),
                ["robust caching", "enhanced ATT bearers", "multiple notifications in one packet"]
            )
        case 0x2B3A: bits(try features(&reader), ["enhanced ATT bearers"])
        case 0x2900: bits(UInt64(try reader.uint16()), ["reliable write", "writable description"])
        case 0x2901: try reader.quotedText()
        case 0x2902: bits(UInt64(try reader.uint16()), ["notifications", "indications"], none: "off")
        case 0x2903: bits(UInt64(try reader.uint16()), ["broadcasts"], none: "off")
        case 0x2904: try ValueFormat(parsing: &reader).words
        case 0x2905: try handles(&reader)
        // Report Reference (HID over GATT)
        case 0x2908:
            "report \(try reader.uint8()), \(choice(try reader.uint8(), ["input", "output", "feature"], from: 1))"
        default: nil
        }
    }

    private static func features(_ reader: inout ValueReader) throws(PacketError) -> UInt64 {
        // Bits may be added; absent octets are zero.
        try reader.unsigned(min(max(reader.remaining, 1), 8))
    }

    private static func handles(_ reader: inout ValueReader) throws(PacketError) -> String {
        var handles: [String] = []
        repeat { handles.append(handle(try reader.uint16())) } while reader.remaining >= 2
        return "handles " + handles.joined(separator: ", ")
    }

    /// Peripheral Preferred Connection Parameters (Core Vol 3 Part C 12.3)
    private static func preferredParameters(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (minimum, maximum) = (try reader.uint16(), try reader.uint16())
        let (latency, timeout) = (try reader.uint16(), try reader.uint16())
        // In units of 1.25 ms; 0xFFFF is no preference.
        func interval(_ value: UInt16) -> String { "\(DecimalNumber(Int64(value) * 125, exponent: -2)) ms" }
        let range =
            switch (minimum, maximum) {
            case (.max, .max): "any interval"
            case (.max, _): "interval up to \(interval(maximum))"
            case (_, .max): "interval from \(interval(minimum))"
            case (_, _): "interval \(interval(minimum)) to \(interval(maximum))"
            }
        // In units of 10 ms. A device may send a value outside of the range, for example 0x5555.
        let end = timeout == .max ? "any timeout" : "timeout \(UInt32(timeout) * 10) ms"
        return "\(range), latency \(latency), \(end)"
    }

    static func appearance(_ number: UInt16) -> String {
        AssignedNumbers.appearance(number).map { "\($0) (0x\(AssignedNumbers.digits(number)))" }
            ?? "0x\(AssignedNumbers.digits(number))"
    }
}
