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

/// Formats a value in words where possible, and otherwise in hexadecimal, with the text that it may be.
///
/// - Parameter raw: Whether to use hexadecimal in any case.
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
