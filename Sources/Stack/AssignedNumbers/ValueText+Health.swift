import BluetoothTypes

// Thermometers, blood pressure meters, scales, glucose meters and pulse oximeters.

extension ValueText {
    static func health(_ number: UInt16, _ reader: inout ValueReader) throws(PacketError) -> String? {
        switch number {
        // Temperature Measurement and Intermediate Temperature
        case 0x2A1C, 0x2A1E: try temperature(&reader)
        case 0x2A1D: temperatureType(try reader.uint8())
        case 0x2A21: try measurementInterval(&reader)
        // Blood Pressure Measurement and Intermediate Cuff Pressure
        case 0x2A35: try bloodPressure(&reader, isIntermediate: false)
        case 0x2A36: try bloodPressure(&reader, isIntermediate: true)
        case 0x2A49:
            bits(
                UInt64(try reader.uint16()),
                [
                    "body movement detection", "cuff fit detection", "irregular pulse detection",
                    "pulse rate range detection", "measurement position detection", "multiple bonds",
                ]
            )
        case 0x2A9C: try bodyComposition(&reader)
        case 0x2A9D: try weight(&reader)
        case 0x2A9E: weightFeatures(try reader.uint32())
        case 0x2A18: try glucose(&reader)
        // PLX Spot-Check Measurement and PLX Continuous Measurement
        case 0x2A5E: try oximetry(&reader, isContinuous: false)
        case 0x2A5F: try oximetry(&reader, isContinuous: true)
        default: nil
        }
    }

    private static func user(_ number: UInt8) -> String {
        number == 0xFF ? "unknown user" : "user \(number)"
    }

    private static func temperature(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        var words = [try reader.longFloat().text(unit: flags & 1 == 0 ? Unit.celsius : Unit.fahrenheit)]
        if flags & 2 != 0 { words.append(try dateTime(&reader)) }
        if flags & 4 != 0 { words.append(temperatureType(try reader.uint8())) }
        return words.joined(separator: ", ")
    }

    private static func temperatureType(_ value: UInt8) -> String {
        let places = [
            "armpit", "body", "ear", "finger", "gastrointestinal tract", "mouth", "rectum", "toe", "eardrum",
        ]
        return choice(value, places, from: 1)
    }

    private static func measurementInterval(_ reader: inout ValueReader) throws(PacketError) -> String {
        let seconds = try reader.uint16()
        return seconds == 0 ? "no periodic measurement" : "\(seconds) s"
    }

    private static func bloodPressure(
        _ reader: inout ValueReader,
        isIntermediate: Bool
    ) throws(PacketError) -> String {
        let flags = try reader.uint8()
        let pressures = [try reader.shortFloat(), try reader.shortFloat(), try reader.shortFloat()]
        let unit = flags & 1 == 0 ? "mmHg" : "kPa"
        // The two other values of an intermediate pressure are not used.
        var words =
            isIntermediate
            ? ["\(pressures[0]) \(unit)"] : ["\(pressures[0])/\(pressures[1]) \(unit)", "mean \(pressures[2]) \(unit)"]
        if flags & 2 != 0 { words.append(try dateTime(&reader)) }
        if flags & 4 != 0 { words.append("pulse " + (try reader.shortFloat()).text(unit: Unit.beatsPerMinute)) }
        if flags & 8 != 0 { words.append(user(try reader.uint8())) }
        if flags & 16 != 0 { words += pressureStatus(try reader.uint16()) }
        return words.joined(separator: ", ")
    }

    private static func pressureStatus(_ status: UInt16) -> [String] {
        var words: [String] = []
        if status & 1 != 0 { words.append("body movement") }
        if status & 2 != 0 { words.append("cuff too loose") }
        if status & 4 != 0 { words.append("irregular pulse") }
        let range = UInt8(status >> 3 & 3)
        if range != 0 { words.append(choice(range, ["pulse too fast", "pulse too slow"], from: 1)) }
        if status & 32 != 0 { words.append("improper position") }
        return words
    }

    /// Reads a weight in units of 5 g or 0.01 lb.
    private static func mass(_ reader: inout ValueReader, isImperial: Bool) throws(PacketError) -> String {
        let value = Int(try reader.uint16())
        return isImperial
            ? number(value, exponent: -2, unit: Unit.pound) : number(value * 5, exponent: -3, unit: Unit.kilogram)
    }

    /// Reads a height in millimetres or 0.1 in.
    private static func height(_ reader: inout ValueReader, isImperial: Bool) throws(PacketError) -> String {
        let value = try reader.uint16()
        return isImperial ? number(value, exponent: -1, unit: Unit.inch) : number(value, exponent: -3, unit: Unit.metre)
    }

    private static func weight(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        let isImperial = flags & 1 != 0
        let weight = try reader.uint16()
        // The special value of the Weight Scale Service for a failed measurement.
        var words = ["measurement failed"]
        if weight != .max {
            words = [
                isImperial
                    ? number(weight, exponent: -2, unit: Unit.pound)
                    : number(Int(weight) * 5, exponent: -3, unit: Unit.kilogram)
            ]
        }
        if flags & 2 != 0 { words.append(try dateTime(&reader)) }
        if flags & 4 != 0 { words.append(user(try reader.uint8())) }
        if flags & 8 != 0 {
            words.append("BMI \(DecimalNumber(Int64(try reader.uint16()), exponent: -1))")
            words.append("height \(try height(&reader, isImperial: isImperial))")
        }
        return words.joined(separator: ", ")
    }

    private static func weightFeatures(_ features: UInt32) -> String {
        var words = [bits(UInt64(features & 7), ["time stamps", "several users", "BMI"])]
        let weights = [
            "0.5 kg or 1 lb", "0.2 kg or 0.5 lb", "0.1 kg or 0.2 lb", "0.05 kg or 0.1 lb", "0.02 kg or 0.05 lb",
            "0.01 kg or 0.02 lb", "0.005 kg or 0.01 lb",
        ]
        let heights = ["0.01 m or 1 in", "0.005 m or 0.5 in", "0.001 m or 0.1 in"]
        let (weight, height) = (UInt8(features >> 3 & 0xF), UInt8(features >> 7 & 0x7))
        if weight != 0 { words.append("weight to \(choice(weight, weights, from: 1))") }
        if height != 0 { words.append("height to \(choice(height, heights, from: 1))") }
        return words.joined(separator: ", ")
    }

    private static func bodyComposition(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint16()
        let isImperial = flags & 1 != 0
        let fat = try reader.uint16()
        var words = [fat == .max ? "measurement failed" : "body fat " + number(fat, exponent: -1, unit: Unit.percent)]
        if flags & 2 != 0 { words.append(try dateTime(&reader)) }
        if flags & 4 != 0 { words.append(user(try reader.uint8())) }
        if flags & 8 != 0 { words.append("basal metabolism \(try reader.uint16()) kJ") }
        if flags & 16 != 0 { words.append("muscle \(number(try reader.uint16(), exponent: -1, unit: Unit.percent))") }
        let masses = ["muscle", "fat-free", "soft lean", "body water"]
        for (index, name) in masses.enumerated() where flags & 1 << (5 + index) != 0 {
            words.append("\(name) \(try mass(&reader, isImperial: isImperial))")
        }
        if flags & 0x200 != 0 { words.append("impedance \(DecimalNumber(Int64(try reader.uint16()), exponent: -1)) Ω") }
        if flags & 0x400 != 0 { words.append("weight \(try mass(&reader, isImperial: isImperial))") }
        if flags & 0x800 != 0 { words.append("height \(try height(&reader, isImperial: isImperial))") }
        if flags & 0x1000 != 0 { words.append("more follows") }
        return words.joined(separator: ", ")
    }

    private static func glucose(_ reader: inout ValueReader) throws(PacketError) -> String {
        let flags = try reader.uint8()
        var words = ["number \(try reader.uint16())", try dateTime(&reader)]
        if flags & 1 != 0 { words.append("time offset \(try reader.int16()) min") }
        if flags & 2 != 0 {
            // In kg/l or mol/l on the air.
            let concentration =
                flags & 4 == 0
                ? try reader.shortFloat(exponent: 5).text(unit: Unit.milligramPerDecilitre)
                : try reader.shortFloat(exponent: 3).text(unit: Unit.millimolePerLitre)
            let sample = try reader.uint8()
            let fluids = [
                "capillary whole blood", "capillary plasma", "venous whole blood", "venous plasma",
                "arterial whole blood", "arterial plasma", "undetermined whole blood", "undetermined plasma",
                "interstitial fluid", "control solution",
            ]
            words += [concentration, choice(sample & 0xF, fluids, from: 1)]
            switch sample >> 4 {
            case 15: break
            case let place:
                words.append(choice(place, ["finger", "other site", "earlobe", "control solution"], from: 1))
            }
        }
        if flags & 8 != 0 { words.append("status \(handle(try reader.uint16()))") }
        if flags & 16 != 0 { words.append("context follows") }
        return words.joined(separator: ", ")
    }

    private static func oximetry(_ reader: inout ValueReader, isContinuous: Bool) throws(PacketError) -> String {
        let flags = try reader.uint8()
        func rates(_ reader: inout ValueReader) throws(PacketError) -> [String] {
            [
                "SpO2 " + (try reader.shortFloat()).text(unit: Unit.percent),
                "pulse " + (try reader.shortFloat()).text(unit: Unit.beatsPerMinute),
            ]
        }
        var words = try rates(&reader)
        if isContinuous {
            if flags & 1 != 0 { words.append("fast \(try rates(&reader).joined(separator: ", "))") }
            if flags & 2 != 0 { words.append("slow \(try rates(&reader).joined(separator: ", "))") }
        } else if flags & 1 != 0 {
            words.append(try dateTime(&reader))
        }
        let shift = isContinuous ? 2 : 1
        if flags & 1 << shift != 0 { words.append("status \(handle(try reader.uint16()))") }
        if flags & 2 << shift != 0 { words.append("device status 0x\(String(try reader.unsigned(3), radix: 16))") }
        if flags & 4 << shift != 0 {
            words.append("pulse amplitude " + (try reader.shortFloat()).text(unit: Unit.percent))
        }
        return words.joined(separator: ", ")
    }
}
