// The strings are Apple's; apps may have stored or sent them.

// MARK: Advertisement data

/// The name in the advertisement, a `String`. Also a key for `startAdvertising(_:)`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// Manufacturer specific `Data`, the company identifier first, least significant octet first.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Service data, a `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Services, a `[CBUUID]`. Also a key for `startAdvertising(_:)`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Services of the scan that may be among those in Apple's overflow area, a `[CBUUID]`.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// The transmit power in dBm, an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// Whether one could connect at that moment, an `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// Services that the device looks for itself, a `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: Options of managers

/// Tell the user when Bluetooth is off: a truth value, true unless given.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// Tell the user when Bluetooth is off: a truth value, false unless given.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The name under which the state of the manager is kept for a relaunch: a `String` that is the same at each launch.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// The name under which the state of the manager is kept for a relaunch: a `String` that is the same at each launch.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Use media devices alone, which takes no permission on Apple's systems: a truth value. Without effect here.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"

// MARK: What is restored

/// The peripherals that were connected or asked for, a `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services that were scanned for, a `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of the scan, a `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"
/// The services that were published, a `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
/// What was advertised, a `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

// MARK: Options of a scan

/// Report every packet, not each peripheral once: a truth value.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Report peripherals that look for one of these services as well: a `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

// MARK: Options of a connection

/// Alert the user when it connects while the app is suspended: a truth value.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Alert the user when it disconnects while the app is suspended: a truth value.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Alert the user on every notification while the app is suspended: a truth value.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// Whole seconds to wait before the attempt starts: a number.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
/// Connect again when the link is lost: a truth value.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionAutoReconnect"
/// Bring up the classic profiles of the device as well: a truth value. There is LE alone here, so the connection is made and the
/// log says what is missing (behaviour 3.20).
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// The device wants this system's notifications (ANCS): a truth value. The link is paired first; see
/// ``CBPeripheral/ancsAuthorized``.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"

// MARK: UUIDs

/// Characteristic Extended Properties.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// Characteristic User Description.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// Client Characteristic Configuration.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// Server Characteristic Configuration.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// Characteristic Presentation Format.
public let CBUUIDCharacteristicFormatString = "2904"
/// Characteristic Aggregate Format.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
/// Valid Range.
public let CBUUIDCharacteristicValidRangeString = "2906"
/// Observation Schedule.
public let CBUUIDCharacteristicObservationScheduleString = "2910"
/// The characteristic that tells the PSM of an L2CAP channel, two octets, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
