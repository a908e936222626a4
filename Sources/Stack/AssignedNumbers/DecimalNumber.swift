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
