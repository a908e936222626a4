import BluetoothTypes
import Testing

@testable import AssignedNumbers

/// A value, its characteristic and the words for it.
struct Sample: Sendable, CustomTestStringConvertible {
    var uuid: BluetoothUUID
    var octets: [UInt8]
    var words: String

    init(_ uuid: BluetoothUUID, _ digits: String, _ words: String) {
        self.uuid = uuid
        octets = parsed(digits)
        self.words = words
    }

    var testDescription: String { "\(uuid) \(hexadecimal(octets))" }

    static let all: [Sample] = attributes + device + time + health + fitness + numbers

    static let attributes: [Sample] = [
        Sample(0x2A00, "5363616c65", #""Scale""#),
        Sample(0x2A00, "5c221b5b41", #""\\\"\u{1b}[A""#),
        Sample(0x2A01, "4003", "Heart Rate Sensor (0x0340)"),
        Sample(0x2A01, "c1ff", "0xFFC1"),
        Sample(0x2A02, "01", "privacy on"),
        Sample(0x2A04, "1800 2800 0000 9001", "interval 30 ms to 50 ms, latency 0, timeout 4000 ms"),
        Sample(0x2A04, "ffff ffff 0400 ffff", "any interval, latency 4, any timeout"),
        Sample(0x2A04, "1800 2800 0000 5555", "interval 30 ms to 50 ms, latency 0, timeout 218450 ms"),
        Sample(0x2A05, "0100 ffff", "handles 0x0001 to 0xffff"),
        Sample(0x2AA6, "01", "supported"),
        Sample(0x2B29, "05", "robust caching, multiple notifications in one packet"),
        Sample(0x2B29, "00", "none"),
        Sample(0x2B3A, "01", "enhanced ATT bearers"),
        Sample(0x2900, "0100", "reliable write"),
        Sample(0x2901, "746f70", #""top""#),
        Sample(0x2902, "0000", "off"),
        Sample(0x2902, "0300", "notifications, indications"),
        Sample(0x2902, "0104", "notifications, bit 10"),
        Sample(0x2903, "0100", "broadcasts"),
        Sample(
            0x2904,
            "0efe 2f27 01 0001",
            "sint16, exponent -2, unit Celsius temperature (degree Celsius), description front"
        ),
        Sample(0x2904, "f000 ffff 02 0500", "format 240, unit FFFF, description 5 in namespace 2"),
        Sample(0x2905, "0300 0a00", "handles 0x0003, 0x000a"),
        Sample(0x2908, "0201", "report 2, input"),
    ]

    static let device: [Sample] = [
        Sample(0x2A06, "02", "high alert"),
        Sample(0x2A07, "fc", "-4 dBm"),
        Sample(0x2A19, "64", "100%"),
        Sample(0x2A29, "4e6f72646963", #""Nordic""#),
        Sample(0x2A23, "123456fffe9abcde", "organization 0xdebc9a, identifier 0xfeff563412"),
        Sample(0x2A4A, "1101 00 02", "HID 1.11, country 0, normally connectable"),
        Sample(0x2A4E, "01", "report protocol"),
        Sample(0x2A50, "01 5900 3412 1023", "vendor Nordic Semiconductor ASA (0x0059), product 0x1234, version 23.1.0"),
        Sample(0x2A50, "02 ac05 3412 0001", "USB vendor 0x05ac, product 0x1234, version 1.0.0"),
        Sample(0x2AE2, "01", "true"),
        Sample(0x2BED, "02 2300 37", "battery present, wired power, charging, 55%"),
        Sample(0x2BED, "00 c111", "battery present, discharging, level critical, fault: battery"),
    ]

    static let time: [Sample] = [
        Sample(0x2A08, "ea07 0b 1a 01 1e 05", "2026-11-26 01:30:05"),
        Sample(0x2A08, "0000 00 00 01 1e 05", "????-??-?? 01:30:05"),
        Sample(0x2A09, "04", "Thursday"),
        Sample(0x2A0D, "04", "daylight saving time +1:00"),
        Sample(0x2A0E, "ec", "UTC-05:00"),
        Sample(0x2A0F, "16 00", "UTC+05:30, standard time"),
        Sample(0x2A12, "08", "accuracy 1 s"),
        Sample(
            0x2A14,
            "01 fe 02 03",
            "Network Time Protocol, accuracy worse than 31.625 s, updated 2 days 3 hours ago"
        ),
        Sample(0x2A17, "00 04", "idle, last update: timed out"),
        Sample(
            0x2A2B,
            "ea07 0b 1a 01 1e 05 04 80 05",
            "Thursday 2026-11-26 01:30:05.500, adjusted: manual change, change of time zone"
        ),
        Sample(0x2AED, "010000", "1970-01-02"),
        Sample(0x2AED, "1e5100", "2026-11-09"),
        Sample(0x2AED, "ffffff", "47904-06-16"),
        Sample(0x2BEF, "000000", "unknown date"),
    ]

    static let health: [Sample] = [
        Sample(0x2A1C, "06 6c0100ff ea07 0b 1a 01 1e 05 06", "36.4 °C, 2026-11-26 01:30:05, mouth"),
        Sample(0x2A1C, "01 de0300ff", "99 °F"),
        Sample(0x2A1C, "00 ffff7f00", "not a number"),
        Sample(0x2A1C, "00 00008000", "not at this resolution"),
        Sample(0x2A1D, "01", "armpit"),
        Sample(0x2A21, "3c00", "60 s"),
        Sample(0x2A21, "0000", "no periodic measurement"),
        Sample(0x2A35, "14 7800 5000 5d00 4800 0400", "120/80 mmHg, mean 93 mmHg, pulse 72 bpm, irregular pulse"),
        Sample(0x2A35, "09 a0f0 6bf0 7cf0 02", "16/10.7 kPa, mean 12.4 kPa, user 2"),
        Sample(0x2A36, "00 7800 ff07 ff07", "120 mmHg"),
        Sample(0x2A49, "0500", "body movement detection, irregular pulse detection"),
        Sample(0x2A98, "1027", "50 kg"),
        Sample(0x2A9D, "00 1027", "50 kg"),
        Sample(0x2A9D, "0d 1027 ff e600 b802", "100 lb, unknown user, BMI 23, height 69.6 in"),
        Sample(0x2A9D, "00 ffff", "measurement failed"),
        Sample(
            0x2A9E,
            "3f010000",
            "time stamps, several users, BMI, weight to 0.005 kg or 0.01 lb, height to 0.005 m or 0.5 in"
        ),
        Sample(0x2A9C, "0004 c800 1027", "body fat 20%, weight 50 kg"),
        Sample(
            0x2A18,
            "02 0100 ea07 0b 1a 01 1e 05 64b0 11",
            "number 1, 2026-11-26 01:30:05, 100 mg/dl, capillary whole blood, finger"
        ),
        Sample(
            0x2A18,
            "06 0100 ea07 0b 1a 01 1e 05 38c0 f1",
            "number 1, 2026-11-26 01:30:05, 5.6 mmol/l, capillary whole blood"
        ),
        Sample(0x2A5E, "00 6200 4800", "SpO2 98%, pulse 72 bpm"),
        Sample(0x2A5F, "04 6200 4800 0001", "SpO2 98%, pulse 72 bpm, status 0x0100"),
    ]

    static let fitness: [Sample] = [
        Sample(0x2A37, "0e4d0300", "77 bpm, contact, energy 3 kJ"),
        Sample(0x2A37, "1e 4d 0300 3f03", "77 bpm, contact, energy 3 kJ, RR 812 ms"),
        Sample(0x2A37, "15 2c01 0004 0008", "300 bpm, no contact, RR 1000 2000 ms"),
        Sample(0x2A37, "00 48", "72 bpm"),
        Sample(0x2A37, "00 48 ff", "72 bpm, then ff"),
        Sample(0x2A38, "01", "chest"),
        Sample(0x2A38, "07", "reserved (7)"),
        Sample(0x2A39, "01", "reset energy expended"),
        Sample(0x2A53, "07 0003 50 6400 e8030000", "running, 3 m/s, 80 steps/min, stride 1 m, distance 100 m"),
        Sample(0x2A5B, "03 e8030000 0004 6400 0006", "wheel 1000 at 1 s, crank 100 at 1.5 s"),
        Sample(0x2A5B, "00", "no revolutions"),
        Sample(0x2A5C, "0300", "wheel revolutions, crank revolutions"),
        Sample(0x2A5D, "05", "left crank"),
        Sample(0x2A63, "0000 fa00", "250 W"),
        Sample(0x2A63, "0300 fa00 65", "250 W, balance 50.5% left"),
        Sample(
            0x2A63,
            "3c08 f6ff 4000 01000000 0008 0200 0004 1900",
            "-10 W, crank torque 2 N·m, wheel 1 at 1 s, crank 2 at 1 s, energy 25 kJ"
        ),
        Sample(
            0x2A63,
            "c001 0000 6400 9cff 4000 c0ff 5a40 01",
            "0 W, force -100 to 100 N, torque -2 to 2 N·m, angles 20 to 90 °"
        ),
    ]

    static let numbers: [Sample] = [
        Sample(0x2A6E, "6608", "21.5 °C"),
        Sample(0x2A6E, "1cff", "-2.28 °C"),
        Sample(0x2A6E, "0080", "unknown"),
        Sample(0x2A6F, "9411", "45%"),
        Sample(0x2A6D, "cd750f00", "101319.7 Pa"),
        Sample(0x2B18, "d300", "3.29688 V"),
        Sample(0x2B04, "65", "50.5%"),
        Sample(0x2BD6, "32 d0", "0.05 kg/m³"),
        Sample(0x2AD8, "0000 e803 0500", "minimum power 0 W, maximum power 1000 W, minimum increment 5 W"),
        Sample(0x2B1C, "0080", "0.5"),
    ]
}

private func parsed(_ digits: String) -> [UInt8] {
    let digits = Array(digits.filter { !$0.isWhitespace })
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

@Suite struct ValueTextTests {
    @Test(
        "octets of no known format are hexadecimal, and text if all of them are printable",
        arguments: [
            ([], "(empty)"), ([0x41], "41 \"A\""), ([0x20, 0x7E], "207e \" ~\""), ([0x1F], "1f"), ([0x7F], "7f"),
            ([0x41, 0x0A], "410a"), ([0x22, 0x5C], "225c \"\\\"\\\\\""), ([0xC3, 0xA9], "c3a9 \"\u{E9}\""),
            ([0xC3], "c3"), ([0xC2, 0x85], "c285"), ([0xE2, 0x80, 0xAE], "e280ae"),
        ] as [([UInt8], String)]
    )
    func plain(octets: [UInt8], text: String) {
        #expect(ValueText.plain(octets) == text)
        #expect(ValueText.plain(PacketBuffer(octets)) == text)
    }

    @Test(arguments: Sample.all)
    func aValueIsPutIntoWords(_ sample: Sample) {
        #expect(ValueText.text(of: sample.octets, in: sample.uuid) == sample.words)
    }

    /// A shortened value is one with fewer fields, or no value at all. It never traps, or reads octets beyond its end.
    @Test(arguments: Sample.all)
    func aTruncatedValueIsSafe(_ sample: Sample) {
        for length in 0..<sample.octets.count {
            let short = sample.octets.prefix(length)
            let text = ValueText.text(of: short, in: sample.uuid)
            #expect(!text.isEmpty && text.visible == text)
            // The same octets in a larger buffer.
            let slice = PacketBuffer([0xFF] + sample.octets + [0xFF]).slice(1..<1 + length)
            #expect(ValueText.text(of: slice, in: sample.uuid) == text)
        }
    }

    @Test func anUnknownValueIsHexadecimal() {
        #expect(ValueText.text(of: [0x00, 0xFF], in: 0xFFFF) == "00ff")
        #expect(ValueText.text(of: Array("Scale".utf8), in: 0xFFFF) == #"5363616c65 "Scale""#)
        #expect(ValueText.text(of: [], in: 0x2A37) == "(empty)")
        #expect(ValueText.words(of: [], in: 0x2A37) == nil)
        #expect(ValueText.words(of: [0x00, 0xFF], in: 0xFFFF) == nil)
        // A heart rate of one octet is incomplete.
        #expect(ValueText.text(of: [0x00], in: 0x2A37) == "00")
        #expect(ValueText.words(of: [0xFF, 0xFE], in: 0x2A00) == nil)
        #expect(ValueText.text(of: [0x1B, 0x5B, 0x32, 0x4A], in: 0xFFFF) == "1b5b324a")
    }

    /// No octets trap: large fields of devices that use reserved values, in each characteristic and descriptor.
    @Test func everyNumberTakesExtremeOctets() {
        for number in [0x2900...0x2910, 0x2A00...0x2C30].joined() {
            for octet: UInt8 in [0x00, 0x55, 0x7F, 0x80, 0xFE, 0xFF] {
                for flags: UInt8 in [0x00, octet] {
                    let value = [flags] + [UInt8](repeating: octet, count: 40)
                    for length in [2, 4, 8, 20, 41] {
                        let text = ValueText.text(of: value.prefix(length), in: BluetoothUUID(UInt16(number)))
                        if text.isEmpty { Issue.record("no text for \(number), \(value.prefix(length))") }
                    }
                }
            }
        }
    }

    @Test func theLengthOfATextIsBounded() {
        let long = [UInt8](repeating: 0x1B, count: 100_000)
        #expect(ValueText.text(of: long, in: 0x2A00).utf8.count < 2_000)
        #expect(ValueText.text(of: long.prefix(512), in: 0x2A00).utf8.count < 5_000)
        #expect(ValueText.text(of: long.prefix(512), in: 0x2A37).utf8.count < 5_000)
        #expect(ValueText.hexadecimal(long).hasSuffix("... (100000 octets)"))
    }

    @Test func aDescriptorGivesAValueItsFormat() throws {
        let format = try #require(ValueFormat([0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x00, 0x01]))
        #expect(ValueText.text(of: [0x66, 0x08], in: 0xFFFF, format: format) == "21.5 °C")
        // The format of the specification is preferred.
        #expect(ValueText.text(of: [0x64], in: 0x2A19, format: format) == "100%")
        let text = try #require(ValueFormat([0x19, 0, 0x00, 0x27, 0x01, 0x00, 0x00]))
        #expect(ValueText.text(of: [0x41], in: 0xFFFF, format: text) == #""A""#)
        let structure = try #require(ValueFormat([0x1B, 0, 0x00, 0x27, 0x01, 0x00, 0x00]))
        #expect(ValueText.text(of: [0x00], in: 0xFFFF, format: structure) == "00")
        #expect(ValueFormat([0x0E]) == nil)
        for exponent in [Int8.min, -13, 7, .max] {
            let format = try #require(ValueFormat([0x12, UInt8(bitPattern: exponent), 0, 0x27, 1, 0, 0]))
            let text = ValueText.text(of: [UInt8](repeating: 0xFF, count: 7) + [0x7F], in: 0xFFFF, format: format)
            #expect(text == "9223372036854775807e\(exponent)")
        }
    }
}

@Suite struct DecimalNumberTests {
    @Test func numbersHaveNoTrailingZeros() {
        #expect(DecimalNumber(2150, exponent: -2).description == "21.5")
        #expect(DecimalNumber(-5, exponent: -2).description == "-0.05")
        #expect(DecimalNumber(100, exponent: -2).description == "1")
        #expect(DecimalNumber(0, exponent: -2).description == "0")
        #expect(DecimalNumber(3, exponent: 3).description == "3000")
        #expect(DecimalNumber(3, exponent: 30).description == "3e30")
        #expect(DecimalNumber(.min, exponent: -1).description == "-922337203685477580.8")
        #expect(DecimalNumber(.min).description == "-9223372036854775808")
    }

    @Test func binaryFractionsHaveSixDigits() {
        #expect(DecimalNumber(1, dividedByTwoTo: 3).description == "0.125")
        #expect(DecimalNumber(1, dividedByTwoTo: 16).description == "0.0000152588")
        #expect(DecimalNumber(-1, dividedByTwoTo: 16).description == "-0.0000152588")
        #expect(DecimalNumber(65_535, dividedByTwoTo: 16).description == "0.999985")
        #expect(DecimalNumber(.max, dividedByTwoTo: 16).exponent >= 0)
        #expect(DecimalNumber(.min, dividedByTwoTo: 16).exponent >= 0)
    }

    @Test func medicalFloatsHaveSpecialValues() {
        #expect("\(MedicalFloat(short: 0x0078))" == "120")
        #expect("\(MedicalFloat(short: 0xF16C))" == "36.4")
        #expect("\(MedicalFloat(short: 0x8800))" == "-0.00002048")
        #expect("\(MedicalFloat(short: 0x07FF))" == "not a number")
        #expect("\(MedicalFloat(short: 0x0800))" == "not at this resolution")
        #expect("\(MedicalFloat(short: 0x07FE))" == "+infinity")
        #expect("\(MedicalFloat(short: 0x0802))" == "-infinity")
        #expect("\(MedicalFloat(short: 0x0801))" == "reserved")
        #expect("\(MedicalFloat(long: 0x7F00_0001))" == "1e127")
        #expect("\(MedicalFloat(long: 0x80FF_FFFF))" == "-1e-128")
        #expect("\(MedicalFloat(long: 0x007F_FFFE))" == "+infinity")
    }
}
