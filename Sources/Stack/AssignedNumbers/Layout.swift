import BluetoothTypes

/// The format of a characteristic that consists of numbers, or of text (GATT Specification Supplement 3).
enum Layout: Hashable, Sendable {
    case text
    case numbers([Field])

    /// A number: the octets times `multiplier` times 10^`decimal` times 2^`binary`, in a unit.
    struct Field: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            case unsigned(octets: Int)
            case signed(octets: Int)
            case shortFloat
            case longFloat
        }

        var name: String?
        var form: Form
        var multiplier: Int64 = 1
        var decimal = 0
        var binary = 0
        var unit: UInt16?
        /// The octets that mean that there is no value.
        var unknown: [UInt64] = []
    }

    /// Looks up the layout of a characteristic.
    init?(_ number: UInt16) {
        guard let text = NumberTable.layouts[number] else { return nil }
        if text == "text" {
            self = .text
        } else {
            self = .numbers(text.split(separator: ";").compactMap { Field(parsing: $0) })
        }
    }

    func words(_ reader: inout ValueReader) throws(PacketError) -> String {
        guard case .numbers(let fields) = self else { return try reader.quotedText() }
        var words: [String] = []
        for field in fields {
            let value = try field.words(&reader)
            words.append(field.name.map { "\($0) \(value)" } ?? value)
        }
        return words.joined(separator: ", ")
    }
}

extension Layout.Field {
    /// Parses what Scripts/assigned_numbers.py writes: `form multiplier decimal binary unit unknown`, and `:name` if
    /// the characteristic has several fields.
    init?(parsing text: some StringProtocol) {
        let halves = text.split(separator: ":", maxSplits: 1)
        let parts = halves.first?.split(separator: " ") ?? []
        guard parts.count == 6, let form = Form(parts[0]), let multiplier = Int64(parts[1]),
            let decimal = Int(parts[2]),
            let binary = Int(parts[3])
        else { return nil }
        self.init(
            name: halves.count > 1 ? halves[1].lowercased() : nil,
            form: form,
            multiplier: multiplier,
            decimal: decimal,
            binary: binary,
            unit: UInt16(parts[4], radix: 16),
            unknown: parts[5].split(separator: ",").compactMap { UInt64($0, radix: 16) }
        )
    }

    func words(_ reader: inout ValueReader) throws(PacketError) -> String {
        switch form {
        case .shortFloat: return try reader.shortFloat(exponent: decimal).text(unit: unit ?? 0x2700)
        case .longFloat: return try reader.longFloat().text(unit: unit ?? 0x2700)
        case .unsigned(let octets):
            let value = try reader.unsigned(octets)
            return unknown.contains(value) ? "unknown" : scaled(Int64(clamping: value))
        case .signed(let octets):
            let value = try reader.signed(octets)
            let pattern = UInt64(bitPattern: value) & (octets < 8 ? 1 << (8 * UInt64(octets)) - 1 : .max)
            return unknown.contains(pattern) ? "unknown" : scaled(value)
        }
    }

    private func scaled(_ value: Int64) -> String {
        let (product, overflow) = value.multipliedReportingOverflow(by: multiplier)
        let number = DecimalNumber(overflow ? value : product, dividedByTwoTo: -binary, exponent: decimal)
        return UnitSymbols.text(number.description, unit: unit)
    }
}

extension Layout.Field.Form {
    fileprivate init?(_ text: some StringProtocol) {
        switch (text.first, text.dropFirst()) {
        case ("u", let octets): self = .unsigned(octets: Int(octets) ?? 1)
        case ("s", let octets): self = .signed(octets: Int(octets) ?? 1)
        case ("f", "16"): self = .shortFloat
        case ("f", _): self = .longFloat
        default: return nil
        }
    }
}
