import Foundation

// The strings are Apple's; apps may have stored or sent them.

// MARK: Advertisement data

/// The name in the advertisement, a `String`. Also a key for ``CBPeripheralManager/startAdvertising(_:)``
/// (behaviours 2.9, 7.15).
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// Manufacturer specific data, a `Data` that begins with the company identifier, least significant octet first
/// (behaviour 2.9).
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Service data, a `[CBUUID: Data]` (behaviour 2.9).
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Services, a `[CBUUID]`. Also a key for ``CBPeripheralManager/startAdvertising(_:)`` (behaviours 2.9, 7.15).
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Services of the scan whose bits are set in Apple's overflow area, a `[CBUUID]`. Services share bits, so these are
/// possible matches (behaviours 2.34, 2.35).
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// The transmit power in dBm, an `NSNumber` (behaviour 2.9).
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// Whether this very advertisement was connectable, a Boolean `NSNumber` (behaviour 2.12).
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// Services that the peripheral looks for in a central, a `[CBUUID]` (behaviours 2.8, 2.9).
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: Options of managers

/// Whether to alert the user if Bluetooth is off when the manager is created: a Boolean, true by default
/// (behaviour 1.16).
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// Whether to alert the user if Bluetooth is off when the manager is created: a Boolean, false by default
/// (behaviour 1.16).
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The identifier under which the manager's state is preserved: a `String`, unique in the app and the same at each
/// launch (behaviour 10.1).
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// The identifier under which the manager's state is preserved: a `String`, unique in the app and the same at each
/// launch (behaviour 10.1).
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Whether to restrict the manager to media devices, which needs no permission on Apple's systems (behaviour 1.22): a
/// Boolean. It has no effect here.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"

// MARK: Restored state

/// The peripherals that were connected or pending, a `[CBPeripheral]` (behaviour 10.8).
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services of the scan, a `[CBUUID]` (behaviour 10.8).
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of the scan, a `[String: Any]` (behaviour 10.8).
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"
/// The published services, a `[CBMutableService]`, whose characteristics have their subscribers (behaviour 10.12).
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// The advertised data, a `[String: Any]` (behaviour 10.12).
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

// MARK: Options of a scan

/// Whether to report every packet instead of each peripheral once: a Boolean, false by default (behaviours 2.2, 2.3).
/// It has no effect in the background (behaviour 2.27).
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Also report peripherals that solicit one of these services: a `[CBUUID]` (behaviour 2.8).
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

// MARK: Options of a connection

/// Whether to alert the user when the peripheral connects while the app is suspended: a Boolean, false by default
/// (behaviour 3.15).
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Whether to alert the user when the peripheral disconnects while the app is suspended: a Boolean, false by default
/// (behaviour 3.15).
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Whether to alert the user of every notification that arrives while the app is suspended: a Boolean, false by default
/// (behaviour 3.15).
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// The delay before the attempt starts, in whole seconds: a number, 0 by default (behaviour 3.16).
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
/// Whether the system connects again by itself when the link is lost: a Boolean, false by default (behaviour 3.17).
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionAutoReconnect"
/// Whether to bring up the classic profiles of the device as well: a Boolean, false by default. Only LE is supported
/// here, so the connection is made over LE and the log says what is missing (behaviour 3.20).
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// Whether the device needs access to this system's notifications (ANCS): a Boolean, false by default. The link is
/// paired first (behaviour 3.19). ``CBPeripheral/ancsAuthorized`` has the outcome.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"

// MARK: UUIDs

/// The UUID of the Characteristic Extended Properties descriptor, whose value is an `NSNumber` (behaviour 4.6).
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// The UUID of the Characteristic User Description descriptor, whose value is a `String` (behaviour 4.6).
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// The UUID of the Client Characteristic Configuration descriptor, whose value is an `NSNumber` (behaviour 4.6).
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// The UUID of the Server Characteristic Configuration descriptor, whose value is an `NSNumber` (behaviour 4.6).
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// The UUID of the Characteristic Presentation Format descriptor, whose value is a `Data` (behaviour 4.6).
public let CBUUIDCharacteristicFormatString = "2904"
/// The UUID of the Characteristic Aggregate Format descriptor, whose value is a `Data` (behaviour 4.6).
public let CBUUIDCharacteristicAggregateFormatString = "2905"
/// The UUID of the Valid Range descriptor, whose value is a `Data` (behaviour 4.6).
public let CBUUIDCharacteristicValidRangeString = "2906"
/// The UUID of the Observation Schedule descriptor, whose value is a `Data` (behaviour 4.6).
public let CBUUIDCharacteristicObservationScheduleString = "2910"
/// The UUID of a characteristic in which a device publishes the PSM of an L2CAP channel: two octets, least significant
/// first (behaviour 8.3).
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"

/// The access that clients have to the value of a local characteristic.
///
/// The system checks permissions before it asks the delegate (behaviour 7.38).
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits of the option set.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, assigned or not.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Any client may read the value.
    public static let readable = CBAttributePermissions(rawValue: 0x1)
    /// Any client may write the value.
    public static let writeable = CBAttributePermissions(rawValue: 0x2)
    /// Only paired clients may read the value, over an encrypted link (behaviour 6.15).
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x4)
    /// Only paired clients may write the value, over an encrypted link (behaviour 6.15).
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x8)
}

/// The operations that a characteristic supports (Core Vol 3 Part G 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits of the option set. Those up to 0x80 are the bits on the wire.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, assigned or not.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The value can be broadcast in advertisements. Not allowed for local characteristics (behaviour 7.7).
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x1)
    /// The value can be read.
    public static let read = CBCharacteristicProperties(rawValue: 0x2)
    /// The value can be written without a response.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x4)
    /// The value can be written with a response.
    public static let write = CBCharacteristicProperties(rawValue: 0x8)
    /// The server sends notifications of the value, which the client does not confirm.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)
    /// The server sends indications of the value, which the client confirms.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
    /// The value can be written by signed writes. Core Bluetooth has no method for them (behaviour 5.25).
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
    /// Further properties are in the Extended Properties descriptor (2900). Not allowed for local characteristics
    /// (behaviour 7.7).
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
    /// Only paired clients can subscribe to notifications. For local characteristics only: clients see ``notify``
    /// (behaviour 6.15).
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
    /// Only paired clients can subscribe to indications. For local characteristics only: clients see ``indicate``
    /// (behaviour 6.15).
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// A criterion for the devices whose connections an app wants to be notified of: a key of the options of
/// ``CBCentralManager/registerForConnectionEvents(options:)`` (behaviour 3.22).
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The key as a string.
    public let rawValue: String

    /// Creates a key from its string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Matches devices that have one of these services. The value is a `[CBUUID]`, of which the first four count.
    public static let serviceUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs"
    )
    /// Matches devices by identifier. The value is a `[UUID]`.
    public static let peripheralUUIDs = CBConnectionEventMatchingOption(
        rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs"
    )
}

/// The configuration of a session that measures the distance to a peripheral by Channel Sounding.
///
/// Objects are immutable and may be used from any thread.
open class CBChannelSoundingSessionConfiguration: NSObject, @unchecked Sendable {
    // Safe: the stored properties are immutable.
    /// The role of this device in the session.
    public typealias Role = CBChannelSoundingSessionConfigurationRole

    private let chosen: Role

    /// Creates a configuration.
    ///
    /// - Parameter role: The role of this device in the session.
    public init(role: Role) {
        chosen = role
        super.init()
    }

    /// The role of this device in the session.
    open var role: Role { chosen }
}

/// The result of one Channel Sounding procedure.
///
/// Objects are immutable and may be used from any thread.
open class CBChannelSoundingProcedureResults: NSObject, @unchecked Sendable {
    // Safe: the stored properties are immutable.
    private let metres: Double

    init(distance: Double) {
        metres = distance
        super.init()
    }

    /// The distance in metres. Negative if it could not be measured.
    open var distance: Double { metres }
}
