import AssignedNumbers
import BluetoothTypes

// UUIDs and values as users type them.

/// Parses a UUID, which may begin with `0x`.
func typedUUID(_ text: some StringProtocol) -> BluetoothUUID? {
    BluetoothUUID(withoutPrefix(text))
}

/// Parses the UUID of a service, or the assigned name of one in any case.
func typedService(_ text: some StringProtocol) -> BluetoothUUID? {
    typedUUID(text) ?? AssignedNumbers.uuids(named: String(text), AssignedNumbers.Kind.services).first
}

/// Parses a value in hexadecimal, such as `6400`, `0x6400`, `64 00`, `64:00`, `64-00` or `0x64,0x00`.
func typedValue(_ text: some StringProtocol) throws(TypedValueError) -> [UInt8] {
    var value: [UInt8] = []
    for part in text.split(whereSeparator: { " :-,".contains($0) }) {
        let digits = withoutPrefix(part)
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { throw .notHexadecimal(String(text)) }
        guard let octets = octets(hexadecimal: digits) else { throw .oddDigits(String(part)) }
        value += octets
    }
    guard !value.isEmpty || text.isEmpty else { throw .notHexadecimal(String(text)) }
    return value
}

private func withoutPrefix(_ text: some StringProtocol) -> String {
    String(text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...])
}

/// A typed value that is not one.
enum TypedValueError: Error, Hashable, CustomStringConvertible {
    case notHexadecimal(String)
    /// Each octet has two digits.
    case oddDigits(String)

    var description: String {
        switch self {
        case .notHexadecimal(let text): "\"\(text.oneLine(64))\" is not a value in hexadecimal, such as 01ff"
        case .oddDigits(let text):
            "\"\(text.oneLine(64))\" has an odd number of hexadecimal digits; each octet has two, such as 06"
        }
    }
}
