import BluetoothTypes

/// Puts the values of characteristics and descriptors into words (GATT Specification Supplement 3).
///
/// Values come from any device. Every value gives a text, of bounded length and without control characters.
package enum ValueText {
    /// The longest value of an attribute, in octets (Core Vol 3 Part F 3.2.9). Longer ones are cut.
    package static let maximumLength = 512

    /// Returns a value in words; if it has none here, in hexadecimal, with the text that it may be.
    ///
    /// - Parameters:
    ///   - value: The octets.
    ///   - uuid: The UUID of the characteristic or descriptor.
    ///   - format: The presentation format of the characteristic, for one without a known format.
    package static func text(
        of value: some Collection<UInt8>,
        in uuid: BluetoothUUID,
        format: ValueFormat? = nil
    ) -> String {
        words(of: value, in: uuid, format: format) ?? plain(value)
    }

    /// Returns a value in words; nil if the characteristic has no known format, or the value does not have it.
    ///
    /// Octets after the last known field are appended in hexadecimal.
    package static func words(
        of value: some Collection<UInt8>,
        in uuid: BluetoothUUID,
        format: ValueFormat? = nil
    ) -> String? {
        guard value.count <= maximumLength else { return nil }
        let value = PacketBuffer(copying: value, headroom: 0)
        var reader = ValueReader(value)
        guard let words = try? words(uuid, format, &reader), !words.isEmpty else { return nil }
        let rest = reader.rest()
        return rest.isEmpty ? words : "\(words), then \(rest)"
    }

    /// Returns the octets in hexadecimal, and also as text if they are printable UTF-8.
    package static func plain(_ value: some Collection<UInt8>) -> String {
        guard !value.isEmpty else { return "(empty)" }
        guard value.count <= maximumLength else { return hexadecimal(value) }
        let octets = Array(value)
        let digits = BluetoothTypes.hexadecimal(octets)
        return printable(octets).map { "\(digits) \($0)" } ?? digits
    }

    /// Returns printable text in quotation marks; nil for other octets. Most values are binary, or ASCII, which takes
    /// no look at the properties of characters.
    private static func printable(_ octets: [UInt8]) -> String? {
        var isSimple = true
        for octet in octets {
            guard octet >= 0x20, octet != 0x7F else { return nil }
            if octet > 0x7F || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { isSimple = false }
        }
        guard let text = String(validating: octets, as: UTF8.self) else { return nil }
        guard !isSimple else { return "\"\(text)\"" }
        return text.visible == text ? quoted(text) : nil
    }

    /// Returns the octets in hexadecimal, cut after ``maximumLength``.
    package static func hexadecimal(_ value: some Collection<UInt8>) -> String {
        let shown = BluetoothTypes.hexadecimal(value.prefix(maximumLength))
        return value.count > maximumLength ? "\(shown)... (\(value.count) octets)" : shown
    }

    /// Returns text in quotation marks, with what could end the quotation or control a terminal escaped.
    package static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0).visible }
        return "\"\(escaped.joined())\""
    }

    private static func words(
        _ uuid: BluetoothUUID,
        _ format: ValueFormat?,
        _ reader: inout ValueReader
    ) throws(PacketError) -> String? {
        if let number = uuid.uint16 {
            // Each returns nil, without reading, for what it does not know.
            if let words = try gap(number, &reader) { return words }
            if let words = try attributes(number, &reader) { return words }
            if let words = try device(number, &reader) { return words }
            if let words = try time(number, &reader) { return words }
            if let words = try health(number, &reader) { return words }
            if let words = try fitness(number, &reader) { return words }
            if let layout = Layout(number) { return try layout.words(&reader) }
        }
        return try format?.layout?.words(&reader)
    }

    // MARK: Helpers

    /// Returns the name of a value in a list that starts at `first`.
    static func choice(_ value: UInt8, _ names: [String], from first: UInt8 = 0) -> String {
        guard value >= first, Int(value - first) < names.count else { return "reserved (\(value))" }
        return names[Int(value - first)]
    }

    /// Returns the names of the bits that are set, lowest first. Bits without a name are numbered.
    static func bits(_ value: UInt64, _ names: [String], none: String = "none") -> String {
        let set = (0..<64).filter { value & 1 << UInt64($0) != 0 }
        let words = set.map { $0 < names.count ? names[$0] : "bit \($0)" }
        return words.isEmpty ? none : words.joined(separator: ", ")
    }

    static func handle(_ value: UInt16) -> String {
        "0x\(BluetoothTypes.hexadecimal([UInt8(value >> 8), UInt8(value & 0xFF)]))"
    }

    static func number(_ value: some FixedWidthInteger, exponent: Int = 0, unit: UInt16) -> String {
        UnitSymbols.text(DecimalNumber(Int64(clamping: value), exponent: exponent).description, unit: unit)
    }

    /// Returns a binary fraction with its unit.
    static func fraction(_ value: some FixedWidthInteger, shift: Int, unit: UInt16) -> String {
        UnitSymbols.text(DecimalNumber(Int64(clamping: value), dividedByTwoTo: shift).description, unit: unit)
    }
}

/// Units that the decoders use.
enum Unit {
    static let metre: UInt16 = 0x2701
    static let kilogram: UInt16 = 0x2702
    static let second: UInt16 = 0x2703
    static let metresPerSecond: UInt16 = 0x2712
    static let watt: UInt16 = 0x2726
    static let celsius: UInt16 = 0x272F
    static let newtonMetre: UInt16 = 0x2741
    static let newton: UInt16 = 0x2723
    static let degree: UInt16 = 0x2763
    static let millimetreOfMercury: UInt16 = 0x2781
    static let inch: UInt16 = 0x27A2
    static let fahrenheit: UInt16 = 0x27AC
    static let percent: UInt16 = 0x27AD
    static let beatsPerMinute: UInt16 = 0x27AF
    static let milligramPerDecilitre: UInt16 = 0x27B1
    static let millimolePerLitre: UInt16 = 0x27B2
    static let pound: UInt16 = 0x27B8
}
