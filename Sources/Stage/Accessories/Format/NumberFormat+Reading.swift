import Foundation

extension Accessory.NumberFormat {
    /// Returns the number at the beginning of a value, or nil if the value is too short or the number is special.
    func number(_ value: some Collection<UInt8>) -> Double? {
        guard value.count >= octets else { return nil }
        let bits = value.prefix(octets).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch self {
        case .uint8, .uint16, .uint24, .uint32, .uint48: return Double(bits)
        case .int8, .int16, .int24, .int32: return Double(Self.signed(bits, 8 * octets))
        case .float32: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .float64: return Double(bitPattern: bits)
        case .medfloat16: return Self.medical(bits, mantissaBits: 12, exponentBits: 4)
        case .medfloat32: return Self.medical(bits, mantissaBits: 24, exponentBits: 8)
        }
    }

    private var octets: Int {
        switch self {
        case .uint8, .int8: 1
        case .uint16, .int16, .medfloat16: 2
        case .uint24, .int24: 3
        case .uint32, .int32, .float32, .medfloat32: 4
        case .uint48: 6
        case .float64: 8
        }
    }

    private static func signed(_ bits: UInt64, _ width: Int) -> Int64 {
        Int64(bitPattern: bits << (64 - UInt64(width))) >> (64 - Int64(width))
    }

    /// Decodes the product of a mantissa and a power of ten. The largest mantissas and the smallest one stand for
    /// infinity and others (ISO/IEEE 11073-20601).
    private static func medical(_ bits: UInt64, mantissaBits: Int, exponentBits: Int) -> Double? {
        let mantissa = signed(bits & (1 << UInt64(mantissaBits) - 1), mantissaBits)
        let largest = Int64(1) << Int64(mantissaBits - 1) - 3
        guard (-largest...largest).contains(mantissa) else { return nil }
        let exponent = signed(bits >> UInt64(mantissaBits), exponentBits)
        // Dividing is exact where multiplying by a negative power is not.
        return exponent < 0
            ? Double(mantissa) / pow(10, Double(-exponent)) : Double(mantissa) * pow(10, Double(exponent))
    }
}
