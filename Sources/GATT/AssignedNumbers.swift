import BluetoothTypes

/// The UUIDs that GATT and GAP themselves give a meaning to (Bluetooth Assigned Numbers 3.4 to 3.8).
public enum GATTUUID {
    /// Declares a primary service.
    public static let primaryService: BluetoothUUID = 0x2800
    /// Declares a service that only others include.
    public static let secondaryService: BluetoothUUID = 0x2801
    /// Declares that a service includes another one.
    public static let include: BluetoothUUID = 0x2802
    /// Declares a characteristic.
    public static let characteristic: BluetoothUUID = 0x2803
    /// Properties that do not fit the declaration.
    public static let extendedProperties: BluetoothUUID = 0x2900
    /// A name for people.
    public static let userDescription: BluetoothUUID = 0x2901
    /// Which values a client wants to be told.
    public static let clientConfiguration: BluetoothUUID = 0x2902
    /// Whether a server broadcasts the value.
    public static let serverConfiguration: BluetoothUUID = 0x2903
    /// How the value is to be shown.
    public static let presentationFormat: BluetoothUUID = 0x2904
    /// Which descriptors say how the parts of the value are to be shown.
    public static let aggregateFormat: BluetoothUUID = 0x2905

    /// The Generic Access service.
    public static let genericAccess: BluetoothUUID = 0x1800
    /// The Generic Attribute service.
    public static let genericAttribute: BluetoothUUID = 0x1801
    /// The name of the device.
    public static let deviceName: BluetoothUUID = 0x2A00
    /// What the device looks like.
    public static let appearance: BluetoothUUID = 0x2A01
    /// Tells of changes to the database.
    public static let serviceChanged: BluetoothUUID = 0x2A05
    /// What a client can do.
    public static let clientSupportedFeatures: BluetoothUUID = 0x2B29
    /// Stands for the definitions of the database.
    public static let databaseHash: BluetoothUUID = 0x2B2A
    /// What a server can do.
    public static let serverSupportedFeatures: BluetoothUUID = 0x2B3A
}

/// Properties that do not fit the declaration (Core Vol 3 Part G 3.3.3.1).
public struct ExtendedProperties: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt16

    /// Any bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The value may be written reliably, together with others.
    public static let reliableWrite = ExtendedProperties(rawValue: 1)
    /// The name for people may be written.
    public static let writableAuxiliaries = ExtendedProperties(rawValue: 2)
}

/// What a client has announced that it can do (Core Vol 3 Part G 7.2).
public struct ClientFeatures: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt8

    /// Any bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It knows what to do with Database Out Of Sync.
    public static let robustCaching = ClientFeatures(rawValue: 0x01)
    /// It can use enhanced bearers.
    public static let enhancedBearers = ClientFeatures(rawValue: 0x02)
    /// It takes several values in one notification.
    public static let multipleNotifications = ClientFeatures(rawValue: 0x04)

    /// All that have a meaning.
    public static let known: ClientFeatures = [.robustCaching, .enhancedBearers, .multipleNotifications]

    /// Reads what a client writes: bits without a meaning are not looked at.
    init(announced value: PacketBuffer) {
        self = ClientFeatures(rawValue: value.first ?? 0).intersection(.known)
    }
}

/// What a server can do (Core Vol 3 Part G 7.4).
public struct ServerFeatures: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt8

    /// Any bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It takes enhanced bearers.
    public static let enhancedBearers = ServerFeatures(rawValue: 0x01)
}

/// What may be done with a characteristic's value (Core Vol 3 Part G 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt8

    /// Any bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast.
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// The value may be read.
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// The value may be written without a response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// The value may be written with a response.
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// The value may be notified.
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// The value may be indicated.
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// The value may be written with a signature.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// There is an Extended Properties descriptor.
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// What a client wants to be told of a characteristic's value (Core Vol 3 Part G 3.3.3.3).
public struct ClientConfiguration: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt16

    /// Any bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Notifications.
    public static let notify = ClientConfiguration(rawValue: 1)
    /// Indications.
    public static let indicate = ClientConfiguration(rawValue: 2)
}
