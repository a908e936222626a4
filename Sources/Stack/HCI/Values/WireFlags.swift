import BluetoothTypes

/// A set of named bits on the wire. Bits without a name are valid and preserved.
package protocol WireFlags: WireValue, OptionSet, CustomStringConvertible where RawValue: UnsignedInteger {
    static var names: [(flag: Self, name: String)] { get }
}

extension WireFlags {
    /// The names of the set bits, followed by the unnamed bits in hexadecimal.
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

    static func bit(_ number: Int) -> Self { Self(rawValue: 1 << RawValue(number)) }
}

/// A value on the wire with names for the values from 0 on. Values without a name are valid.
package protocol NamedWireValue: WireValue, CustomStringConvertible {
    /// The names of 0, 1 and so on, as printed in logs.
    static var names: [String] { get }
}

extension NamedWireValue {
    /// The name, or the number in hexadecimal if the value has no name.
    package var description: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}
