import BluetoothTypes

/// The UUIDs that GATT and GAP themselves give a meaning to (Bluetooth Assigned Numbers 3.4 to 3.8).
package enum GATTUUID {
    /// Declares a primary service.
    package static let primaryService: BluetoothUUID = 0x2800
    /// Declares a service that only others include.
    package static let secondaryService: BluetoothUUID = 0x2801
    /// Declares that a service includes another one.
    package static let include: BluetoothUUID = 0x2802
    /// Declares a characteristic.
    package static let characteristic: BluetoothUUID = 0x2803
    /// Properties that do not fit the declaration.
    package static let extendedProperties: BluetoothUUID = 0x2900
    /// A name for people.
    package static let userDescription: BluetoothUUID = 0x2901
    /// Which values a client wants to be told.
    package static let clientConfiguration: BluetoothUUID = 0x2902
    /// Whether a server broadcasts the value.
    package static let serverConfiguration: BluetoothUUID = 0x2903
    /// How the value is to be shown.
    package static let presentationFormat: BluetoothUUID = 0x2904
    /// Which descriptors say how the parts of the value are to be shown.
    package static let aggregateFormat: BluetoothUUID = 0x2905

    /// The Generic Access service.
    package static let genericAccess: BluetoothUUID = 0x1800
    /// The Generic Attribute service.
    package static let genericAttribute: BluetoothUUID = 0x1801
    /// The name of the device.
    package static let deviceName: BluetoothUUID = 0x2A00
    /// What the device looks like.
    package static let appearance: BluetoothUUID = 0x2A01
    /// Tells of changes to the database.
    package static let serviceChanged: BluetoothUUID = 0x2A05
    /// What a client can do.
    package static let clientSupportedFeatures: BluetoothUUID = 0x2B29
    /// Stands for the definitions of the database.
    package static let databaseHash: BluetoothUUID = 0x2B2A
    /// What a server can do.
    package static let serverSupportedFeatures: BluetoothUUID = 0x2B3A
}

/// Properties that do not fit the declaration (Core Vol 3 Part G 3.3.3.1).
package struct ExtendedProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    /// Any bits.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The value may be written reliably, together with others.
    package static let reliableWrite = ExtendedProperties(rawValue: 1)
    /// The name for people may be written.
    package static let writableAuxiliaries = ExtendedProperties(rawValue: 2)
}

/// What a client has announced that it can do (Core Vol 3 Part G 7.2).
package struct ClientFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// Any bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It knows what to do with Database Out Of Sync.
    package static let robustCaching = ClientFeatures(rawValue: 0x01)
    /// It can use enhanced bearers.
    package static let enhancedBearers = ClientFeatures(rawValue: 0x02)
    /// It takes several values in one notification.
    package static let multipleNotifications = ClientFeatures(rawValue: 0x04)

    /// All that have a meaning.
    package static let known: ClientFeatures = [.robustCaching, .enhancedBearers, .multipleNotifications]

    /// Reads what a client writes: bits without a meaning are not looked at.
    init(announced value: PacketBuffer) {
        self = ClientFeatures(rawValue: value.first ?? 0).intersection(.known)
    }
}

/// What a server can do (Core Vol 3 Part G 7.4).
package struct ServerFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// Any bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It takes enhanced bearers.
    package static let enhancedBearers = ServerFeatures(rawValue: 0x01)
}

/// What may be done with a characteristic's value (Core Vol 3 Part G 3.3.1.1).
package struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// Any bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast.
    package static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// The value may be read.
    package static let read = CharacteristicProperties(rawValue: 0x02)
    /// The value may be written without a response.
    package static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// The value may be written with a response.
    package static let write = CharacteristicProperties(rawValue: 0x08)
    /// The value may be notified.
    package static let notify = CharacteristicProperties(rawValue: 0x10)
    /// The value may be indicated.
    package static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// The value may be written with a signature.
    package static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// There is an Extended Properties descriptor.
    package static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// What a client wants to be told of a characteristic's value (Core Vol 3 Part G 3.3.3.3).
package struct ClientConfiguration: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    /// Any bits.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Notifications.
    package static let notify = ClientConfiguration(rawValue: 1)
    /// Indications.
    package static let indicate = ClientConfiguration(rawValue: 2)
}
