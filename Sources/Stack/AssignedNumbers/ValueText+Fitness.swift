import BluetoothTypes

// Heart rate, and the sensors of runners and cyclists.

extension ValueText {
    static func fitness(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        case 0x2A37: try heartRate(&reader)
        case 0x2A38:
            choice(try reader.uint8(), ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"])
        case 0x2A39: choice(try reader.uint8(), ["reset energy expended"], from: 1)
        case 0x2A53: try running(&reader)
        case 0x2A54:
            bits(
                UInt64(try reader.uint16()),
                [
                    "stride length", "total distance", "walking or running", "calibration", "multiple locations",
                ]
            )
        case 0x2A5B: try cycling(&reader)
        case 0x2A5C:
            bits(UInt64(try reader.uint16()), ["wheel revolutions", "crank revolutions", "multiple locations"])
        case 0x2A5D: sensorLocation(try reader.uint8())
        case 0x2A63: try cyclingPower(&reader)
        default: nil
        }
    }

    private static func sensorLocation(_ value: UInt8) -> String {
        choice(
            value,
            [
                "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
                "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
                "chain ring",
            ]
        )
    }

    private static func heartRate(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        let rate = flags & 1 == 0 ? UInt16(try reader.uint8()) : try reader.uint16()
        var words = ["\(rate) bpm"]
        if flags & 4 != 0 { words.append(flags & 2 != 0 ? "contact" : "no contact") }
        if flags & 8 != 0 { words.append("energy \(try reader.uint16()) kJ") }
        guard flags & 16 != 0 else { return words.joined(separator: ", ") }
        var intervals: [String] = []
        while reader.remaining >= 2 {
            // In 1/1024 s, rounded to milliseconds.
            intervals.append("\((Int(try reader.uint16()) * 1_000 + 512) / 1_024)")
        }
        if !intervals.isEmpty { words.append("RR \(intervals.joined(separator: " ")) ms") }
        return words.joined(separator: ", ")
    }

    private static func running(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        var words = [
            flags & 4 == 0 ? "walking" : "running",
            fraction(try reader.uint16(), shift: 8, unit: Unit.metresPerSecond), "\(try reader.uint8()) steps/min",
        ]
        if flags & 1 != 0 { words.append("stride \(number(try reader.uint16(), exponent: -2, unit: Unit.metre))") }
        if flags & 2 != 0 { words.append("distance \(number(try reader.uint32(), exponent: -1, unit: Unit.metre))") }
        return words.joined(separator: ", ")
    }

    /// Reads the revolutions of a wheel. The event time has 1/1024 s, that of a power meter 1/2048 s.
    private static func wheel(_ reader: inout ValueReader, shift: Int) throws(PacketError) -> String {
        let revolutions = try reader.uint32()
        return "wheel \(revolutions) at \(fraction(try reader.uint16(), shift: shift, unit: Unit.second))"
    }

    private static func crank(_ reader: inout ValueReader) throws(PacketError) -> String {
        let revolutions = try reader.uint16()
        return "crank \(revolutions) at \(fraction(try reader.uint16(), shift: 10, unit: Unit.second))"
    }

    private static func cycling(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        var words: [String] = []
        if flags & 1 != 0 { words.append(try wheel(&reader, shift: 10)) }
        if flags & 2 != 0 { words.append(try crank(&reader)) }
        return words.isEmpty ? "no revolutions" : words.joined(separator: ", ")
    }

    private static func cyclingPower(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint16()
        var words = [number(try reader.int16(), unit: Unit.watt)]
        if flags & 1 != 0 {
            let balance = fraction(try reader.uint8(), shift: 1, unit: Unit.percent)
            words.append("balance \(balance)\(flags & 2 != 0 ? " left" : "")")
        }
        if flags & 4 != 0 {
            let source = flags & 8 == 0 ? "wheel" : "crank"
            words.append("\(source) torque \(fraction(try reader.uint16(), shift: 5, unit: Unit.newtonMetre))")
        }
        if flags & 0x10 != 0 { words.append(try wheel(&reader, shift: 11)) }
        if flags & 0x20 != 0 { words.append(try crank(&reader)) }
        if flags & 0x40 != 0 {
            let (most, least) = (try reader.int16(), try reader.int16())
            words.append("force \(least) to \(number(most, unit: Unit.newton))")
        }
        if flags & 0x80 != 0 {
            let (most, least) = (try reader.int16(), try reader.int16())
            words.append(
                "torque \(DecimalNumber(Int64(least), dividedByTwoTo: 5)) to "
                    + fraction(most, shift: 5, unit: Unit.newtonMetre)
            )
        }
        if flags & 0x100 != 0 {
            let angles = try reader.unsigned(3)
            words.append("angles \(angles >> 12) to \(number(angles & 0xFFF, unit: Unit.degree))")
        }
        if flags & 0x200 != 0 { words.append("top dead spot \(number(try reader.uint16(), unit: Unit.degree))") }
        if flags & 0x400 != 0 { words.append("bottom dead spot \(number(try reader.uint16(), unit: Unit.degree))") }
        if flags & 0x800 != 0 { words.append("energy \(try reader.uint16()) kJ") }
        if flags & 0x1000 != 0 { words.append("offset compensation") }
        return words.joined(separator: ", ")
    }
}
