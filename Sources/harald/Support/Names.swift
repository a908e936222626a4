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

/// Formats a UUID with its name in the assigned numbers, if this tool has one for it.
func describe(_ uuid: CBUUID) -> String {
    assignedName(uuid.uuidString).map { "\($0) (\(uuid.uuidString))" } ?? uuid.uuidString
}

/// Returns the name of a UUID in the assigned numbers.
func assignedName(_ uuid: String) -> String? {
    assignedNames[uuid.uppercased()]
}

private let assignedNames = [
    "1800": "Generic Access", "1801": "Generic Attribute", "180A": "Device Information", "180D": "Heart Rate",
    "180F": "Battery", "2A00": "Device Name", "2A01": "Appearance", "2A04": "Preferred Connection Parameters",
    "2A05": "Service Changed", "2A19": "Battery Level", "2A23": "System ID", "2A24": "Model Number",
    "2A25": "Serial Number", "2A26": "Firmware Revision", "2A27": "Hardware Revision", "2A28": "Software Revision",
    "2A29": "Manufacturer Name", "2A37": "Heart Rate Measurement", "2A38": "Body Sensor Location",
    "2A39": "Heart Rate Control Point", "2A87": "Email Address", "2AA6": "Central Address Resolution",
    "2B29": "Client Supported Features",
    "2B2A": "Database Hash", "2B3A": "Server Supported Features", "2900": "Extended Properties",
    "2901": "User Description", "2902": "Client Configuration", "2904": "Presentation Format",
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

/// Returns the name of a company in the assigned numbers.
func assignedName(company: UInt16) -> String? { nil }

/// Formats a company identifier, with its name in the assigned numbers if there is one.
func companyName(_ company: UInt16) -> String {
    let digits = "0x" + hexadecimal([UInt8(company >> 8), UInt8(company & 0xFF)]).uppercased()
    return assignedName(company: company).map { "\($0) (\(digits))" } ?? digits
}

/// Returns a value in words; nil if it can only be shown in hexadecimal.
///
/// - Parameter uuid: The characteristic or descriptor, or nil for data without a type.
func words(for value: PacketBuffer, of uuid: BluetoothUUID?) -> String? {
    guard !value.isEmpty, let text = String(validating: value, as: UTF8.self), text.visible == text else { return nil }
    return text
}

/// Formats octets as hexadecimal, and also in words where possible.
func shown(_ value: PacketBuffer, of uuid: BluetoothUUID? = nil) -> String {
    guard !value.isEmpty else { return "(empty)" }
    return words(for: value, of: uuid).map { "\(value) \"\($0)\"" } ?? "\(value)"
}
