import BluetoothTypes
import Foundation

extension Accessory {
    /// The value of an attribute: a sequence of parts, each hexadecimal, a text or a number.
    public struct Value: Hashable, Sendable {
        /// A part of a value.
        public enum Part: Hashable, Sendable {
            /// Octets as they are sent.
            case octets([UInt8])
            /// A text, as UTF-8.
            case text(String)
            /// A number, least significant octet first.
            case number(NumberFormat, Double)
            /// Octets of the value that a central has just written: `count` of them, or all that follow.
            case written(from: Int, count: Int?)
            /// The present value of a characteristic, or a hidden one.
            case value(String)
            /// The length of such a value, in octets, as a uint32.
            case size(String)
            /// The CRC-32 of such a value (ISO-HDLC), as a uint32.
            case crc32(String)
        }

        /// The parts, in order.
        public var parts: [Part]

        /// Creates a value from its parts.
        public init(_ parts: [Part] = []) {
            self.parts = parts
        }

        /// Creates a value from octets.
        public init(_ octets: [UInt8]) {
            parts = [.octets(octets)]
        }

        /// Returns the octets, at most ``AccessoryLimits/valueLength``.
        ///
        /// - Parameters:
        ///   - written: The value that a central has just written, if there is one.
        ///   - present: Returns the present value of an ID or a UUID.
        public func octets(written: [UInt8] = [], present: (String) -> [UInt8] = { _ in [] }) -> [UInt8] {
            let all: [UInt8] = parts.reduce(into: []) { octets, part in
                switch part {
                case .octets(let some): octets += some
                case .text(let text): octets += text.utf8
                case .number(let format, let number): octets += format.octets(of: number) ?? []
                case .written(let from, let count):
                    let rest = written.dropFirst(from)
                    octets += rest.prefix(count ?? rest.count)
                case .value(let reference): octets += present(reference)
                case .size(let reference): octets += NumberFormat.littleEndian(UInt64(present(reference).count), 4)
                case .crc32(let reference): octets += NumberFormat.littleEndian(UInt64(present(reference).crc32), 4)
                }
            }
            return Array(all.prefix(AccessoryLimits.valueLength))
        }

        /// The IDs and UUIDs of the present values that the value contains.
        var references: [String] {
            parts.compactMap { part in
                switch part {
                case .value(let reference), .size(let reference), .crc32(let reference): reference
                default: nil
                }
            }
        }

        var dependsOnWrite: Bool {
            parts.contains { if case .written = $0 { true } else { false } }
        }
    }

    /// The form of a number in a value, least significant octet first.
    public enum NumberFormat: String, CaseIterable, Sendable {
        case uint8, uint16, uint24, uint32, uint48
        case int8, int16, int24, int32
        case float32, float64
        /// The 16-bit and the 32-bit float of ISO/IEEE 11073-20601, which medical devices use.
        case medfloat16, medfloat32

        /// The numbers that an integer format can represent; nil for a floating-point format.
        private var integers: (octets: Int, range: ClosedRange<Int64>)? {
            switch self {
            case .uint8: (1, 0...0xFF)
            case .uint16: (2, 0...0xFFFF)
            case .uint24: (3, 0...0xFF_FFFF)
            case .uint32: (4, 0...0xFFFF_FFFF)
            case .uint48: (6, 0...0xFFFF_FFFF_FFFF)
            case .int8: (1, -0x80...0x7F)
            case .int16: (2, -0x8000...0x7FFF)
            case .int24: (3, -0x80_0000...0x7F_FFFF)
            case .int32: (4, -0x8000_0000...0x7FFF_FFFF)
            case .float32, .float64, .medfloat16, .medfloat32: nil
            }
        }

        /// The numbers that the format can represent, for messages.
        var range: String {
            guard let integers else { return "a number within its range" }
            return "a whole number from \(integers.range.lowerBound) to \(integers.range.upperBound)"
        }

        /// Returns the octets of a number, or nil if the format cannot represent it.
        func octets(of number: Double) -> [UInt8]? {
            switch self {
            case .float32:
                let value = Float(number)
                return value.isFinite ? Self.littleEndian(UInt64(value.bitPattern), 4) : nil
            case .float64: return Self.littleEndian(number.bitPattern, 8)
            case .medfloat16: return Self.medical(number, mantissaBits: 12, exponents: -8...7, octets: 2)
            case .medfloat32: return Self.medical(number, mantissaBits: 24, exponents: -128...127, octets: 4)
            default:
                guard let integers, let whole = Int64(exactly: number), integers.range.contains(whole) else {
                    return nil
                }
                return Self.littleEndian(UInt64(bitPattern: whole), integers.octets)
            }
        }

        fileprivate static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }

        /// Encodes the product of a mantissa and a power of ten, with as few decimals as the number needs. The
        /// largest mantissas stand for infinity and others (ISO/IEEE 11073-20601).
        private static func medical(
            _ number: Double,
            mantissaBits: UInt64,
            exponents: ClosedRange<Int>,
            octets count: Int
        ) -> [UInt8]? {
            let largest = Double((1 << (mantissaBits - 1)) - 3)
            var best: (mantissa: Int64, exponent: Int)?
            for exponent in stride(from: min(exponents.upperBound, 40), through: max(exponents.lowerBound, -40), by: -1)
            {
                let scaled = (number / pow(10, Double(exponent)))
                guard abs(scaled.rounded()) <= largest else { break }
                best = (Int64(scaled.rounded()), exponent)
                if exponent <= 0, abs(scaled - scaled.rounded()) < 1e-6 { break }
            }
            guard let best else { return nil }
            let mask = UInt64(1) << mantissaBits - 1
            let exponent = UInt64(UInt8(bitPattern: Int8(best.exponent))) << mantissaBits
            return littleEndian(UInt64(bitPattern: best.mantissa) & mask | exponent, count)
        }
    }
}

extension [UInt8] {
    /// The CRC-32 of ISO-HDLC, which zlib and firmware updates use.
    var crc32: UInt32 {
        // As one expression of closures, this takes the compiler three seconds to type-check.
        var crc = UInt32.max
        for octet in self {
            crc ^= UInt32(octet)
            for _ in 0..<8 {
                let feedback: UInt32 = crc & 1 == 1 ? 0xEDB8_8320 : 0
                crc = crc >> 1 ^ feedback
            }
        }
        return ~crc
    }
}
