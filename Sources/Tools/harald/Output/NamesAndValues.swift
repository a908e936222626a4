import AssignedNumbers
import BluetoothTypes
import Demos

// The names of numbers, and values in words. All output of the tool gets them here.

/// Formats a UUID, with its name in the assigned numbers if there is one.
func nameOf(_ uuid: BluetoothUUID) -> String {
    let text = uuid.attributeForm.description
    return assignedName(text).map { "\(text) \($0)" } ?? text
}

/// Formats a company identifier, with its name in the assigned numbers if there is one.
func companyName(_ company: UInt16) -> String { AssignedNumbers.companyTitle(company) }

/// Returns a value in words for programs, a text without quotation marks; nil if there is only hexadecimal.
///
/// - Parameter uuid: The characteristic or descriptor, or nil for data without a type.
func words(for value: PacketBuffer, of uuid: BluetoothUUID?) -> String? {
    let text = String(validating: value, as: UTF8.self).flatMap { $0.isEmpty || $0.visible != $0 ? nil : $0 }
    guard let uuid, let words = ValueText.words(of: value, in: uuid) else { return text }
    return text.map { ValueText.quoted($0) == words } == true ? text : words
}

/// Formats a value in words where possible, and otherwise, or with `raw`, in hexadecimal, with the text that it may be.
func shown(_ value: PacketBuffer, of uuid: BluetoothUUID? = nil, raw: Bool = false) -> String {
    guard !raw, let uuid else { return ValueText.plain(value) }
    return ValueText.text(of: value, in: uuid)
}

extension String {
    /// A sentence without its full stop, to be followed by more.
    var clause: String { hasSuffix(".") ? String(dropLast()) : self }

    /// A sentence to follow a colon.
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

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
