import BluetoothTypes

/// A set of bits on the wire whose bits have names. Bits that nobody named are kept as they are.
package protocol WireFlags: WireValue, OptionSet, CustomStringConvertible where RawValue: UnsignedInteger {
    /// The names of the bits, for a log.
    static var names: [(flag: Self, name: String)] { get }
}

extension WireFlags {
    /// The names of the bits that are set, then the bits without a name in hexadecimal.
    package var description: String {
        var parts: [String] = []
        var rest = rawValue
        for (flag, name) in Self.names where flag.rawValue != 0 && rest & flag.rawValue == flag.rawValue {
            parts.append(name)
            rest &= ~flag.rawValue
        }
        if rest != 0 { parts.append("0x" + String(rest, radix: 16)) }
        return "[\(parts.joined(separator: ", "))]"
    }

    /// A set of one bit.
    static func bit(_ number: Int) -> Self { Self(rawValue: 1 << RawValue(number)) }
}

/// A number on the wire some of whose values have names.
protocol NamedWireValue: WireValue, CustomStringConvertible {
    static var names: [RawValue: String] { get }
}

extension NamedWireValue {
    var named: String { Self.names[rawValue] ?? "0x" + String(rawValue, radix: 16) }
}
