import BluetoothTypes

// Device Information, Battery, Human Interface Device, and the alert services. The strings of Device Information and
// the battery level have a layout.

extension ValueText {
    static func device(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        case 0x2A06: choice(try reader.uint8(), ["no alert", "mild alert", "high alert"])
        // Tx Power Level, which has a sign
        case 0x2A07: "\(try reader.int8()) dBm"
        case 0x2A23: try systemIdentifier(&reader)
        case 0x2A4A: try hidInformation(&reader)
        case 0x2A4C: choice(try reader.uint8(), ["suspend", "exit suspend"])
        case 0x2A4E: choice(try reader.uint8(), ["boot protocol", "report protocol"])
        case 0x2A50: try pnpIdentifier(&reader)
        // Boolean, of the automation services
        case 0x2AE2: choice(try reader.uint8(), ["false", "true"])
        case 0x2BED: try batteryLevelStatus(&reader)
        default: nil
        }
    }

    /// System ID: an identifier by the manufacturer and its organization, least significant octet first.
    private static func systemIdentifier(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (own, organization) = (try reader.unsigned(5), try reader.unsigned(3))
        func digits(_ value: UInt64, _ octets: UInt64) -> String {
            BluetoothTypes.hexadecimal((0..<octets).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
        }
        return "organization 0x\(digits(organization, 3)), identifier 0x\(digits(own, 5))"
    }

    private static func pnpIdentifier(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (source, vendor) = (try reader.uint8(), try reader.uint16())
        let (product, version) = (try reader.uint16(), try reader.uint16())
        let name =
            switch source {
            case 1: "vendor \(AssignedNumbers.companyTitle(vendor))"
            case 2: "USB vendor \(handle(vendor))"
            default: "vendor \(handle(vendor)) of reserved source \(source)"
            }
        // 0xJJMN is version JJ.M.N, in binary-coded decimal.
        let parts = "\(String(version >> 8, radix: 16)).\(version >> 4 & 0xF).\(version & 0xF)"
        return "\(name), product \(handle(product)), version \(parts)"
    }

    private static func hidInformation(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (version, country, flags) = (try reader.uint16(), try reader.uint8(), try reader.uint8())
        let minor = BluetoothTypes.hexadecimal([UInt8(version & 0xFF)])
        return "HID \(String(version >> 8, radix: 16)).\(minor), country \(country), "
            + bits(UInt64(flags), ["wakes the host", "normally connectable"], none: "no flags")
    }

    private static func batteryLevelStatus(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (flags, power) = (try reader.uint8(), try reader.uint16())
        func part(_ shift: UInt16, _ width: UInt16) -> UInt8 {
            UInt8(truncatingIfNeeded: power >> shift & (1 << width - 1))
        }
        var words = [part(0, 1) == 1 ? "battery present" : "no battery"]
        for (shift, kind) in [(UInt16(1), "wired"), (3, "wireless")] where part(shift, 2) != 0 {
            words.append(choice(part(shift, 2), ["\(kind) power", "\(kind) power unknown"], from: 1))
        }
        words.append(
            choice(part(5, 2), ["charge state unknown", "charging", "discharging", "discharging, inactive"])
        )
        if part(7, 2) != 0 { words.append(choice(part(7, 2), ["level good", "level low", "level critical"], from: 1)) }
        if part(9, 3) != 0 {
            let kinds = ["constant current", "constant voltage", "trickle", "float"]
            words.append(choice(part(9, 3), kinds, from: 1))
        }
        if part(12, 3) != 0 {
            words.append("fault: " + bits(UInt64(part(12, 3)), ["battery", "external power", "other"]))
        }
        if flags & 1 != 0 { words.append("identifier \(try reader.uint16())") }
        if flags & 2 != 0 { words.append("\(try reader.uint8())%") }
        if flags & 4 != 0 {
            let more = try reader.uint8()
            if more & 3 == 1 { words.append("service required") }
            if more & 4 != 0 { words.append("battery fault") }
        }
        return words.joined(separator: ", ")
    }
}
