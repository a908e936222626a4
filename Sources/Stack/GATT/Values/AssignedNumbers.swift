import BluetoothTypes

/// The UUIDs defined by GATT and GAP (Bluetooth Assigned Numbers 3.4 to 3.8).
package enum GATTUUID {
    /// The Primary Service declaration (Core Vol 3 Part G 3.1).
    package static let primaryService: BluetoothUUID = 0x2800
    /// Secondary Service declaration, for services that only other services include.
    package static let secondaryService: BluetoothUUID = 0x2801
    /// The Include declaration (Core Vol 3 Part G 3.2).
    package static let include: BluetoothUUID = 0x2802
    /// The Characteristic declaration (Core Vol 3 Part G 3.3.1).
    package static let characteristic: BluetoothUUID = 0x2803
    /// The types of attributes that begin a service, an include or a characteristic.
    package static let declarations: Set<BluetoothUUID> = [primaryService, secondaryService, include, characteristic]
    package static let extendedProperties: BluetoothUUID = 0x2900
    package static let userDescription: BluetoothUUID = 0x2901
    package static let clientConfiguration: BluetoothUUID = 0x2902
    package static let serverConfiguration: BluetoothUUID = 0x2903
    package static let presentationFormat: BluetoothUUID = 0x2904
    package static let aggregateFormat: BluetoothUUID = 0x2905

    package static let genericAccess: BluetoothUUID = 0x1800
    package static let genericAttribute: BluetoothUUID = 0x1801
    package static let deviceName: BluetoothUUID = 0x2A00
    package static let appearance: BluetoothUUID = 0x2A01
    package static let serviceChanged: BluetoothUUID = 0x2A05
    package static let clientSupportedFeatures: BluetoothUUID = 0x2B29
    package static let databaseHash: BluetoothUUID = 0x2B2A
    package static let serverSupportedFeatures: BluetoothUUID = 0x2B3A
}

/// The bits of a Characteristic Extended Properties descriptor (Core Vol 3 Part G 3.3.3.1).
package struct ExtendedProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The value supports the Reliable Writes procedure.
    package static let reliableWrite = ExtendedProperties(rawValue: 1)
    /// The Characteristic User Description descriptor is writable.
    package static let writableAuxiliaries = ExtendedProperties(rawValue: 2)
}

/// The features that a client announces in Client Supported Features (Core Vol 3 Part G 7.2).
package struct ClientFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Robust caching: the client handles Database Out Of Sync.
    package static let robustCaching = ClientFeatures(rawValue: 0x01)
    package static let enhancedBearers = ClientFeatures(rawValue: 0x02)
    package static let multipleNotifications = ClientFeatures(rawValue: 0x04)

    package static let known: ClientFeatures = [.robustCaching, .enhancedBearers, .multipleNotifications]

    /// Creates the features from the value that a client writes. Unassigned bits are ignored.
    init(announced value: PacketBuffer) {
        self = ClientFeatures(rawValue: value.first ?? 0).intersection(.known)
    }
}

/// The features that a server offers in Server Supported Features (Core Vol 3 Part G 7.4).
package struct ServerFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let enhancedBearers = ServerFeatures(rawValue: 0x01)
}

/// The properties of a characteristic (Core Vol 3 Part G 3.3.1.1).
package struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let broadcast = CharacteristicProperties(rawValue: 0x01)
    package static let read = CharacteristicProperties(rawValue: 0x02)
    package static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    package static let write = CharacteristicProperties(rawValue: 0x08)
    package static let notify = CharacteristicProperties(rawValue: 0x10)
    package static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// The value may be written with a signature, without a response.
    package static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    package static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// The value of a Client Characteristic Configuration descriptor (Core Vol 3 Part G 3.3.3.3).
package struct ClientConfiguration: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let notify = ClientConfiguration(rawValue: 1)
    package static let indicate = ClientConfiguration(rawValue: 2)
}
