/// A Bluetooth UUID of 16, 32 or 128 bits (Core Vol 3 Part B 2.5.1).
///
/// The short forms abbreviate UUIDs on the Bluetooth base UUID. Equality and hashing use the full 128-bit value,
/// whatever the width.
public struct BluetoothUUID: Sendable {
    /// The width in which a UUID is written.
    public enum Width: Int, Sendable {
        /// Four hexadecimal digits, which replace the lower half of the first 32 bits of the base UUID.
        case bits16 = 16
        /// Eight hexadecimal digits, which replace the first 32 bits of the base UUID.
        case bits32 = 32
        /// 32 hexadecimal digits with hyphens: the full value.
        case bits128 = 128

        /// The number of octets on the wire.
        public var octets: Int { rawValue / 8 }
    }

    /// The upper 64 bits: the first sixteen printed digits.
    public let high: UInt64
    /// The lower 64 bits: the last sixteen printed digits.
    public let low: UInt64
    /// The width in which the UUID was created.
    public let width: Width

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// Creates a 16-bit UUID.
    public init(_ value: UInt16) {
        self.init(short: UInt32(value), width: .bits16)
    }

    /// Creates a 32-bit UUID.
    public init(bits32 value: UInt32) {
        self.init(short: value, width: .bits32)
    }

    /// Creates a 128-bit UUID from its upper and lower half.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        width = .bits128
    }

    /// Parses `180D`, `0000180D` or `0000180D-0000-1000-8000-00805F9B34FB`; nil for any other format.
    public init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        switch characters.count {
        case 4, 8:
            guard let value = Self.parse(characters[...]) else { return nil }
            self.init(short: UInt32(value), width: characters.count == 4 ? .bits16 : .bits32)
        case 36:
            let hyphens = [8, 13, 18, 23]
            guard hyphens.allSatisfy({ characters[$0] == UInt8(ascii: "-") }) else { return nil }
            let digits = characters.indices.filter { !hyphens.contains($0) }.map { characters[$0] }
            guard let high = Self.parse(digits[..<16]), let low = Self.parse(digits[16...]) else {
                return nil
            }
            self.init(high: high, low: low)
        default:
            return nil
        }
    }

    /// Creates a UUID from 2, 4 or 16 octets in wire order, least significant first; nil for any other length.
    public init?(littleEndian bytes: some RandomAccessCollection<UInt8>) {
        self.init(bigEndian: bytes.reversed())
    }

    /// Creates a UUID from 2, 4 or 16 octets in printed order, most significant first; nil for any other length.
    public init?(bigEndian bytes: some RandomAccessCollection<UInt8>) {
        func value(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 2: self.init(short: UInt32(value(bytes)), width: .bits16)
        case 4: self.init(short: UInt32(value(bytes)), width: .bits32)
        case 16: self.init(high: value(bytes.prefix(8)), low: value(bytes.suffix(8)))
        default: return nil
        }
    }

    private init(short value: UInt32, width: Width) {
        high = UInt64(value) << 32 | Self.baseHigh
        low = Self.baseLow
        self.width = width
    }

    /// The 32-bit short form, whatever the width; nil if the UUID is not on the base UUID.
    public var shortValue: UInt32? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt32(high >> 32)
    }

    /// The 16-bit short form, whatever the width; nil if there is none.
    public var uint16: UInt16? {
        shortValue.flatMap { UInt16(exactly: $0) }
    }

    /// The same UUID in one of the two widths that ATT supports: 16 bits if possible, otherwise 128 (Vol 3 Part F
    /// 3.2.1).
    public var attributeForm: BluetoothUUID {
        uint16.map { BluetoothUUID($0) } ?? BluetoothUUID(high: high, low: low)
    }

    /// The same UUID, 128 bits wide.
    public var expanded: BluetoothUUID { BluetoothUUID(high: high, low: low) }

    /// The octets in printed order, most significant first, in this ``width``.
    public var bigEndianBytes: [UInt8] {
        switch width {
        case .bits16: octets(high >> 32, 2)
        case .bits32: octets(high >> 32, 4)
        case .bits128: octets(high, 8) + octets(low, 8)
        }
    }

    /// The octets in wire order, least significant first, in this ``width``.
    public var littleEndianBytes: [UInt8] { bigEndianBytes.reversed() }

    private func octets(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func parse(_ digits: ArraySlice<UInt8>) -> UInt64? {
        // UInt64(_:radix:) alone would accept a sign.
        guard digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

extension BluetoothUUID: Hashable {
    /// Compares the 128-bit values, whatever the widths.
    public static func == (a: BluetoothUUID, b: BluetoothUUID) -> Bool {
        a.high == b.high && a.low == b.low
    }

    /// Hashes the 128-bit value, whatever the width.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// Creates a 16-bit UUID from a literal such as `0x180D`.
    public init(integerLiteral value: UInt16) {
        self.init(value)
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The UUID in upper-case hexadecimal, in this ``width``, with hyphens if it is 128 bits wide.
    public var description: String {
        let digits = hexadecimal(bigEndianBytes).uppercased()
        guard width == .bits128 else { return digits }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
