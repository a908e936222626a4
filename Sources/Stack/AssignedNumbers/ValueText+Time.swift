import BluetoothTypes

// The characteristics of the time services, and the time stamps of measurements.

extension ValueText {
    static func time(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        case 0x2A08: try dateTime(&reader)
        case 0x2A09: weekday(try reader.uint8())
        case 0x2A0A: try dayDateTime(&reader)
        case 0x2A0C: try exactTime(&reader)
        case 0x2A0D: summerTime(try reader.uint8())
        case 0x2A0E: zone(try reader.int8())
        case 0x2A0F: "\(zone(try reader.int8())), \(summerTime(try reader.uint8()))"
        // Time with DST: the next change of the clocks.
        case 0x2A11: "\(try dateTime(&reader)), \(summerTime(try reader.uint8()))"
        case 0x2A12: accuracy(try reader.uint8())
        case 0x2A13: source(try reader.uint8())
        case 0x2A14: try referenceTime(&reader)
        case 0x2A16: choice(try reader.uint8(), ["get an update", "cancel the update"], from: 1)
        case 0x2A17: try updateState(&reader)
        case 0x2A2B: try currentTime(&reader)
        // Date UTC and Estimated Service Date, in days since 1970
        case 0x2AED, 0x2BEF: date(try reader.unsigned(3))
        default: nil
        }
    }

    /// Reads a date and a time of day. Parts that the device does not know are zero.
    static func dateTime(_ reader: inout ValueReader) throws(PacketError) -> String {
        let year = try reader.uint16()
        let (month, day) = (try reader.uint8(), try reader.uint8())
        let (hours, minutes, seconds) = (try reader.uint8(), try reader.uint8(), try reader.uint8())
        let date = [
            year == 0 ? "????" : padded(Int(year), 4), month == 0 ? "??" : padded(Int(month), 2),
            day == 0 ? "??" : padded(Int(day), 2),
        ]
        let clock = [hours, minutes, seconds].map { padded(Int($0), 2) }
        return date.joined(separator: "-") + " " + clock.joined(separator: ":")
    }

    private static func padded(_ value: Int, _ digits: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func weekday(_ number: UInt8) -> String {
        let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        return choice(number, ["unknown day"] + names)
    }

    private static func dayDateTime(_ reader: inout ValueReader) throws(PacketError) -> String {
        let time = try dateTime(&reader)
        let day = try reader.uint8()
        return day == 0 ? time : "\(weekday(day)) \(time)"
    }

    private static func exactTime(_ reader: inout ValueReader) throws(PacketError) -> String {
        let time = try dayDateTime(&reader)
        // In 1/256 s, shown as milliseconds.
        return "\(time).\(padded(Int(try reader.uint8()) * 1_000 / 256, 3))"
    }

    private static func currentTime(_ reader: inout ValueReader) throws(PacketError) -> String {
        let (time, reasons) = (try exactTime(&reader), UInt64(try reader.uint8()))
        guard reasons != 0 else { return time }
        let names = ["manual change", "external reference", "change of time zone", "change of daylight saving time"]
        return "\(time), adjusted: \(bits(reasons, names))"
    }

    private static func zone(_ quarters: Int8) -> String {
        guard quarters != -128 else { return "time zone unknown" }
        let minutes = abs(Int(quarters)) * 15
        return "UTC\(quarters < 0 ? "-" : "+")\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
    }

    private static func summerTime(_ offset: UInt8) -> String {
        switch offset {
        case 0: "standard time"
        case 2: "daylight saving time +0:30"
        case 4: "daylight saving time +1:00"
        case 8: "daylight saving time +2:00"
        case 255: "daylight saving time unknown"
        default: "reserved (\(offset))"
        }
    }

    private static func accuracy(_ value: UInt8) -> String {
        switch value {
        case 254: "accuracy worse than 31.625 s"
        case 255: "accuracy unknown"
        default: "accuracy \(fraction(value, shift: 3, unit: Unit.second))"
        }
    }

    private static func source(_ value: UInt8) -> String {
        choice(
            value,
            [
                "unknown source", "Network Time Protocol", "GPS", "radio time signal", "set by hand", "atomic clock",
                "cellular network", "not synchronized",
            ]
        )
    }

    private static func referenceTime(_ reader: inout ValueReader) throws(PacketError) -> String {
        let words = [source(try reader.uint8()), accuracy(try reader.uint8())]
        let (days, hours) = (try reader.uint8(), try reader.uint8())
        let age =
            days == 255 || hours == 255 ? "updated 255 days ago or more" : "updated \(days) days \(hours) hours ago"
        return (words + [age]).joined(separator: ", ")
    }

    private static func updateState(_ reader: inout ValueReader) throws(PacketError) -> String {
        let state = choice(try reader.uint8(), ["idle", "update pending"])
        let results = [
            "successful", "cancelled", "no connection to the reference", "the reference reported an error", "timed out",
            "not attempted since the reset",
        ]
        return "\(state), last update: \(choice(try reader.uint8(), results))"
    }

    /// Returns the date of a day of the Gregorian calendar.
    private static func date(_ days: UInt64) -> String {
        guard days != 0 else { return "unknown date" }
        // Eras of 400 years, which start on 1 March so that leap days come last.
        let day = Int(days) + 719_468
        let (era, ofEra) = (day / 146_097, day % 146_097)
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let dayOfMonth = ofYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return "\(padded(year, 4))-\(padded(month < 10 ? month + 3 : month - 9, 2))-\(padded(dayOfMonth, 2))"
    }
}
