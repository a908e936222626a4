import BluetoothTypes
import Foundation

/// A device that a command has heard or knows.
struct DeviceCandidate: Hashable, Sendable {
    /// The identifier that apps know the device by.
    var identifier: UUID?
    var address: BluetoothAddress?
    /// The advertised name, and the device name if it differs.
    var names: [String] = []
    var services: [BluetoothUUID] = []

    var label: String {
        let place = identifier?.uuidString ?? address.map { "\($0)" } ?? "an anonymous device"
        return names.first.map { "\($0.quotedName) (\(place))" } ?? place
    }

    var document: DeviceDocument {
        DeviceDocument(identifier: identifier?.uuidString, address: address.map { "\($0)" }, name: names.first)
    }
}

/// A device in a document.
struct DeviceDocument: Encodable, Hashable, Sendable {
    /// The identifier that apps know the device by, with a service and its managers.
    var identifier: String?
    /// The address, where the command has a controller of its own.
    var address: String?
    var name: String?
}
