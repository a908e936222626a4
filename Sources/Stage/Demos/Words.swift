import AssignedNumbers
import BluetoothTypes
import CoreBluetooth

// The names of numbers and states, for the output of the demos and the tool.

/// Describes the state for the user.
package func stateName(_ state: CBManagerState) -> String {
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
package func describe(_ uuid: CBUUID) -> String {
    assignedName(uuid.uuidString).map { "\($0) (\(uuid.uuidString))" } ?? uuid.uuidString
}

/// Returns the name of a UUID: the assigned one, or that of a service of the demos.
package func assignedName(_ uuid: String) -> String? {
    BluetoothUUID(uuid).flatMap { demoNames[$0.description] ?? AssignedNumbers.name(of: $0) }
}

/// The services and characteristics of the demos, which the Bluetooth SIG has assigned no numbers.
private let demoNames = [
    "6E6F7465-0000-4861-7261-6C6420303031": "Notes", "6E6F7465-0001-4861-7261-6C6420303031": "Note",
    "77656172-0000-4861-7261-6C6420303031": "Wearer",
]

/// Returns the names of the properties, in the order of their bits.
package func describe(_ properties: CBCharacteristicProperties) -> String {
    propertyNames(UInt8(truncatingIfNeeded: properties.rawValue))
}

/// Returns the names of a characteristic declaration's property bits, separated by commas.
package func propertyNames(_ bits: UInt8) -> String { listOfProperties(bits).joined(separator: ", ") }

/// Returns the names of a characteristic declaration's property bits (Core Vol 3 Part G 3.3.1.1).
package func listOfProperties(_ bits: UInt8) -> [String] {
    let names = [
        "broadcast", "read", "write without response", "write", "notify", "indicate", "signed write",
        "extended properties",
    ]
    return names.indices.filter { bits & 1 << $0 != 0 }.map { names[$0] }
}
