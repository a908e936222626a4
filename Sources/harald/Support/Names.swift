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

/// Returns a value in words; nil if it can only be shown in hexadecimal.
///
/// - Parameter uuid: The characteristic or descriptor, or nil for data without a type.
func words(for value: PacketBuffer, of uuid: BluetoothUUID?) -> String? {
    if let uuid, let words = ValueText.words(of: value, in: uuid) { return words }
    guard !value.isEmpty, let text = String(validating: value, as: UTF8.self), text.visible == text else { return nil }
    return ValueText.quoted(text)
}

/// Formats a value in words where possible, and otherwise in hexadecimal, with the text that it may be.
func shown(_ value: PacketBuffer, of uuid: BluetoothUUID? = nil) -> String {
    uuid.map { ValueText.text(of: value, in: $0) } ?? ValueText.plain(value)
}
