import AssignedNumbers
import BluetoothTypes
import CoreBluetooth

// The names of numbers, and values in words. All output of the tool gets them here.

/// Describes the state for the user.
func stateName(_ state: CBManagerState) -> String {
    switch state {
    case .unknown: "in an unknown state"
    case .resetting: "resetting"
    case .unsupported: "not supported"
    case .unauthorized: "not authorized"
    case .poweredOff: "off"
    case .poweredOn: "on"
    @unknown default: "in state \(state.rawValue)"
    }
}

/// Formats a UUID with its name, if it has one: `Heart Rate (180D)`.
func describe(_ uuid: CBUUID) -> String {
    assignedName(uuid.uuidString).map { "\($0) (\(uuid.uuidString))" } ?? uuid.uuidString
}

/// Returns the name of a UUID: the assigned one, or that of a service of the demos.
func assignedName(_ uuid: String) -> String? {
    BluetoothUUID(uuid).flatMap { demoNames[$0.description] ?? AssignedNumbers.name(of: $0) }
}

/// The services and characteristics of the demos, which the Bluetooth SIG has assigned no numbers.
private let demoNames = [
    "6E6F7465-0000-4861-7261-6C6420303031": "Notes", "6E6F7465-0001-4861-7261-6C6420303031": "Note",
    "77656172-0000-4861-7261-6C6420303031": "Wearer",
]

/// Returns the names of the properties, in the order of their bits.
func describe(_ properties: CBCharacteristicProperties) -> String {
    propertyNames(UInt8(truncatingIfNeeded: properties.rawValue))
}

/// Returns the names of a characteristic declaration's property bits, separated by commas.
func propertyNames(_ bits: UInt8) -> String { listOfProperties(bits).joined(separator: ", ") }

/// Returns the names of a characteristic declaration's property bits (Core Vol 3 Part G 3.3.1.1).
func listOfProperties(_ bits: UInt8) -> [String] {
    let names = [
        "broadcast", "read", "write without response", "write", "notify", "indicate", "signed write",
        "extended properties",
    ]
    return names.indices.filter { bits & 1 << $0 != 0 }.map { names[$0] }
}

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
