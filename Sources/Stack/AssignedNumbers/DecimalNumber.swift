/// An exact decimal number, to print what devices scale by powers of ten and two.
struct DecimalNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number is `digits` times ten to the power of `exponent`.
    let digits: Int64
    let exponent: Int

    /// The exponents for which all digits are printed. Others get the scientific notation.
    private static let positional = -12...6
    /// The number of significant digits of a binary fraction.
    private static let significant: Int64 = 1_000_000

    init(_ digits: Int64, exponent: Int = 0) {
        (self.digits, self.exponent) = (digits, exponent)
    }

    /// Creates a binary fraction, `value` / 2^`shift`, times ten to the power of `exponent`, rounded to six digits.
    ///
    /// - Parameter shift: 0 to 16. With `value` of up to 32 bits, nothing overflows before the rounding.
    init(_ value: Int64, dividedByTwoTo shift: Int, exponent: Int = 0) {
        var (digits, exponent) = (value, exponent)
        for _ in 0..<min(max(shift, 0), 16) {
            let (product, overflow) = digits.multipliedReportingOverflow(by: 5)
            digits = overflow ? digits / 2 : product
            exponent -= overflow ? 0 : 1
        }
        while shift > 0, digits.magnitude >= Self.significant.magnitude {
            digits = (digits + (digits < 0 ? -5 : 5)) / 10
            exponent += 1
        }
        self.init(digits, exponent: exponent)
    }

    /// The number without trailing zeros after the decimal point.
    var description: String {
        guard digits != 0 else { return "0" }
        guard Self.positional.contains(exponent) else { return "\(digits)e\(exponent)" }
        guard exponent < 0 else { return "\(digits)" + String(repeating: "0", count: exponent) }
        var figures = String(digits.magnitude)
        figures = String(repeating: "0", count: max(0, 1 - exponent - figures.count)) + figures
        let whole = figures.dropLast(-exponent)
        var fraction = figures.suffix(-exponent)
        while fraction.last == "0" { fraction.removeLast() }
        return (digits < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : ".\(fraction)")
    }
}

/// A floating-point number of IEEE 11073-20601, as health devices send it.
enum MedicalFloat: Hashable, Sendable, CustomStringConvertible {
    case number(DecimalNumber)
    /// A special value: not a number, not at this resolution, an infinity or reserved.
    case special(String)

    /// Creates a number from an SFLOAT: a mantissa of 12 bits and a decimal exponent of 4.
    ///
    /// - Parameter exponent: A further exponent, for another unit.
    init(short value: UInt16, exponent: Int = 0) {
        let mantissa = Int64(Int16(bitPattern: value << 4) >> 4)
        let power = Int(Int16(bitPattern: value) >> 12)
        // The special values have the exponent 0.
        self.init(mantissa, power, limit: 0x7FF, scale: exponent)
    }

    /// Creates a number from a FLOAT: a mantissa of 24 bits and a decimal exponent of 8.
    init(long value: UInt32) {
        let mantissa = Int64(Int32(bitPattern: value << 8) >> 8)
        self.init(mantissa, Int(Int32(bitPattern: value) >> 24), limit: 0x7F_FFFF, scale: 0)
    }

    private init(_ mantissa: Int64, _ exponent: Int, limit: Int64, scale: Int) {
        switch (mantissa, exponent) {
        case (limit, 0): self = .special("not a number")
        case (limit - 1, 0): self = .special("+infinity")
        case (-limit - 1, 0): self = .special("not at this resolution")
        case (-limit, 0): self = .special("reserved")
        case (-limit + 1, 0): self = .special("-infinity")
        default: self = .number(DecimalNumber(mantissa, exponent: exponent + scale))
        }
    }

    var description: String {
        switch self {
        case .number(let number): number.description
        case .special(let text): text
        }
    }

    /// The number with the symbol of its unit. A special value has none.
    func text(unit: UInt16) -> String {
        if case .number(let number) = self { UnitSymbols.text(number.description, unit: unit) } else { description }
    }
}

/// The symbols of the units, by the last octet of their UUID 27xx. A unit without a symbol is a plain number.
enum UnitSymbols {
    /// Returns a value with the symbol of its unit.
    static func text(_ value: String, unit: UInt16?) -> String {
        guard let unit else { return value }
        guard let symbol = symbols[unit] else {
            return AssignedNumbers.unit(unit).map { "\(value) \($0)" }
                ?? "\(value) (unit \(AssignedNumbers.digits(unit)))"
        }
        return symbol.isEmpty ? value : symbol == "%" ? "\(value)%" : "\(value) \(symbol)"
    }

    private static let symbols: [UInt16: String] = [
        0x2700: "", 0x2701: "m", 0x2702: "kg", 0x2703: "s", 0x2704: "A", 0x2705: "K", 0x2706: "mol", 0x2707: "cd",
        0x2710: "m²", 0x2711: "m³", 0x2712: "m/s", 0x2713: "m/s²", 0x2715: "kg/m³", 0x2720: "rad", 0x2722: "Hz",
        0x2723: "N", 0x2724: "Pa", 0x2725: "J", 0x2726: "W", 0x2727: "C", 0x2728: "V", 0x2729: "F", 0x272A: "Ω",
        0x272D: "T", 0x272F: "°C", 0x2730: "lm", 0x2731: "lx", 0x2741: "N·m", 0x2743: "rad/s", 0x2760: "min",
        0x2761: "h", 0x2762: "d", 0x2763: "°", 0x2767: "l", 0x2780: "bar", 0x2781: "mmHg", 0x27A2: "in", 0x27A3: "ft",
        0x27A4: "mi", 0x27A5: "psi", 0x27A6: "km/h", 0x27A7: "mph", 0x27A8: "rpm", 0x27AA: "kcal", 0x27AB: "kWh",
        0x27AC: "°F", 0x27AD: "%", 0x27AE: "‰", 0x27AF: "bpm", 0x27B0: "Ah", 0x27B1: "mg/dl", 0x27B2: "mmol/l",
        0x27B3: "years", 0x27B4: "months", 0x27B5: "per m³", 0x27B6: "W/m²", 0x27B7: "ml/kg/min", 0x27B8: "lb",
        0x27BA: "steps/min", 0x27BC: "strokes/min", 0x27BE: "lm/W", 0x27BF: "lm·h", 0x27C0: "lx·h", 0x27C1: "g/s",
        0x27C2: "l/s", 0x27C3: "dB", 0x27C4: "ppm", 0x27C5: "ppb", 0x27C7: "kVAh", 0x27C8: "VA",
    ]
}
