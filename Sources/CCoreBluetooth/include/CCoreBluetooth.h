#pragma once

// The enumerations of the API, in C because Apple's are: an open C enumeration takes any raw value, so that
// `CBATTError.Code(rawValue: 0x80)` answers with an application's own error, and `@unknown default` means in a client
// what it means on Apple's systems. A Swift enumeration can do neither.
#define CB_ENUM(name) \
    enum __attribute__((enum_extensibility(open))) name : long; \
    typedef enum name name; \
    enum name : long

/// What a manager can do now. A new manager is in the state `unknown`; changes come through its delegate.
CB_ENUM(CBManagerState) {
    /// Not known yet; an update is imminent.
    CBManagerStateUnknown = 0,
    /// The service was lost for a moment; an update is imminent.
    CBManagerStateResetting = 1,
    /// There is no usable controller.
    CBManagerStateUnsupported = 2,
    /// The app may not use Bluetooth.
    CBManagerStateUnauthorized = 3,
    /// Bluetooth is off.
    CBManagerStatePoweredOff = 4,
    /// Bluetooth is on: the only state in which a manager takes commands.
    CBManagerStatePoweredOn = 5,
};

/// Whether an app may use Bluetooth.
CB_ENUM(CBManagerAuthorization) {
    /// The user has not been asked yet.
    CBManagerAuthorizationNotDetermined = 0,
    /// Not allowed, and not for the user to decide.
    CBManagerAuthorizationRestricted = 1,
    /// The user said no.
    CBManagerAuthorizationDenied = 2,
    /// Allowed, in the background as well.
    CBManagerAuthorizationAllowedAlways = 3,
};

/// The connection between this app and a peripheral.
CB_ENUM(CBPeripheralState) {
    /// Not connected to this app, whatever other apps do.
    CBPeripheralStateDisconnected = 0,
    /// Asked to connect; this state lasts until the peripheral is there.
    CBPeripheralStateConnecting = 1,
    /// Connected to this app.
    CBPeripheralStateConnected = 2,
    /// Asked to disconnect.
    CBPeripheralStateDisconnecting = 3,
};

/// What became of the connection of a peer that somebody on this system uses.
CB_ENUM(CBConnectionEvent) {
    /// It is no longer connected to the system.
    CBConnectionEventPeerDisconnected = 0,
    /// It is connected to the system; an app that wants to use it still has to connect.
    CBConnectionEventPeerConnected = 1,
};

/// What a device does while distances are measured; in Swift `CBChannelSoundingSessionConfiguration.Role`.
CB_ENUM(CBChannelSoundingSessionConfigurationRole) {
    /// It begins each measurement.
    CBChannelSoundingSessionConfigurationRoleInitiator = 0,
};

/// The two ways to write a characteristic.
CB_ENUM(CBCharacteristicWriteType) {
    /// The peripheral confirms, and the delegate is told.
    CBCharacteristicWriteTypeWithResponse = 0,
    /// Nobody confirms.
    CBCharacteristicWriteTypeWithoutResponse = 1,
};

/// How often a central is asked to listen to this device.
CB_ENUM(CBPeripheralManagerConnectionLatency) {
    /// Quick answers, much energy.
    CBPeripheralManagerConnectionLatencyLow = 0,
    /// Between the two.
    CBPeripheralManagerConnectionLatencyMedium = 1,
    /// Slow answers, little energy.
    CBPeripheralManagerConnectionLatencyHigh = 2,
};

/// The states of a central manager as old code names them; `CBManagerState` has the same numbers.
CB_ENUM(CBCentralManagerState) {
    /// `CBManagerState.unknown`.
    CBCentralManagerStateUnknown = 0,
    /// `CBManagerState.resetting`.
    CBCentralManagerStateResetting = 1,
    /// `CBManagerState.unsupported`.
    CBCentralManagerStateUnsupported = 2,
    /// `CBManagerState.unauthorized`.
    CBCentralManagerStateUnauthorized = 3,
    /// `CBManagerState.poweredOff`.
    CBCentralManagerStatePoweredOff = 4,
    /// `CBManagerState.poweredOn`.
    CBCentralManagerStatePoweredOn = 5,
};

/// The states of a peripheral manager as old code names them; `CBManagerState` has the same numbers.
CB_ENUM(CBPeripheralManagerState) {
    /// `CBManagerState.unknown`.
    CBPeripheralManagerStateUnknown = 0,
    /// `CBManagerState.resetting`.
    CBPeripheralManagerStateResetting = 1,
    /// `CBManagerState.unsupported`.
    CBPeripheralManagerStateUnsupported = 2,
    /// `CBManagerState.unauthorized`.
    CBPeripheralManagerStateUnauthorized = 3,
    /// `CBManagerState.poweredOff`.
    CBPeripheralManagerStatePoweredOff = 4,
    /// `CBManagerState.poweredOn`.
    CBPeripheralManagerStatePoweredOn = 5,
};

/// Whether an app may be a peripheral, as old code asks; `CBManagerAuthorization` is the present form.
CB_ENUM(CBPeripheralManagerAuthorizationStatus) {
    /// The user has not been asked yet.
    CBPeripheralManagerAuthorizationStatusNotDetermined = 0,
    /// Not allowed, and not for the user to decide.
    CBPeripheralManagerAuthorizationStatusRestricted = 1,
    /// The user said no.
    CBPeripheralManagerAuthorizationStatusDenied = 2,
    /// Allowed.
    CBPeripheralManagerAuthorizationStatusAuthorized = 3,
};

/// What went wrong in the central or peripheral role; in Swift `CBError.Code`.
CB_ENUM(CBErrorCode) {
    /// Nothing is known of the reason.
    CBErrorCodeUnknown = 0,
    /// An argument does not make sense.
    CBErrorCodeInvalidParameters = 1,
    /// The attribute is no longer there.
    CBErrorCodeInvalidHandle = 2,
    /// There is no connection.
    CBErrorCodeNotConnected = 3,
    /// No room is left.
    CBErrorCodeOutOfSpace = 4,
    /// The operation was cancelled.
    CBErrorCodeOperationCancelled = 5,
    /// The link was lost.
    CBErrorCodeConnectionTimeout = 6,
    /// The peer ended the link.
    CBErrorCodePeripheralDisconnected = 7,
    /// The UUID belongs to the system.
    CBErrorCodeUuidNotAllowed = 8,
    /// This manager advertises already.
    CBErrorCodeAlreadyAdvertising = 9,
    /// The link could not be made.
    CBErrorCodeConnectionFailed = 10,
    /// Too many links.
    CBErrorCodeConnectionLimitReached = 11,
    /// Nothing is known of the device. The misspelling is Apple's and came first, so it is the case.
    CBErrorCodeUnkownDevice = 12,
    /// Nothing is known of the device.
    CBErrorCodeUnknownDevice = 12,
    /// The device or the system cannot do this.
    CBErrorCodeOperationNotSupported = 13,
    /// The peer has forgotten the bond.
    CBErrorCodePeerRemovedPairingInformation = 14,
    /// Encryption took too long.
    CBErrorCodeEncryptionTimedOut = 15,
    /// No further device can be bonded.
    CBErrorCodeTooManyLEPairedDevices = 16,
    /// On a watch only: too many notifications in the background.
    CBErrorCodeLeGattExceededBackgroundNotificationLimit = 17,
    /// On a watch only: nearly too many notifications in the background.
    CBErrorCodeLeGattNearBackgroundNotificationLimit = 18,
    /// Distances cannot be measured in this way. The number is not published; it follows from the order.
    CBErrorCodeChannelSoundingConfigurationFailed = 19,
    /// Measuring a distance failed. The number is not published; it follows from the order.
    CBErrorCodeChannelSoundingProcedureFailed = 20,
};

/// What an attribute server answers with (Core Vol 3 Part F 3.4.1.1); in Swift `CBATTError.Code`. Applications and
/// profiles have codes of their own from 0x80 on, which have no name here.
CB_ENUM(CBATTErrorCode) {
    /// No error.
    CBATTErrorCodeSuccess = 0x00,
    /// There is no such attribute.
    CBATTErrorCodeInvalidHandle = 0x01,
    /// The attribute cannot be read.
    CBATTErrorCodeReadNotPermitted = 0x02,
    /// The attribute cannot be written.
    CBATTErrorCodeWriteNotPermitted = 0x03,
    /// The request was malformed.
    CBATTErrorCodeInvalidPdu = 0x04,
    /// The link has to be authenticated first.
    CBATTErrorCodeInsufficientAuthentication = 0x05,
    /// The server does not know the request.
    CBATTErrorCodeRequestNotSupported = 0x06,
    /// The offset is past the end of the value.
    CBATTErrorCodeInvalidOffset = 0x07,
    /// The client is not authorized.
    CBATTErrorCodeInsufficientAuthorization = 0x08,
    /// Too many writes are prepared.
    CBATTErrorCodePrepareQueueFull = 0x09,
    /// No attribute in the range.
    CBATTErrorCodeAttributeNotFound = 0x0A,
    /// The attribute cannot be read in parts.
    CBATTErrorCodeAttributeNotLong = 0x0B,
    /// The encryption key is too short.
    CBATTErrorCodeInsufficientEncryptionKeySize = 0x0C,
    /// The value has a length that the attribute does not take.
    CBATTErrorCodeInvalidAttributeValueLength = 0x0D,
    /// Something unlikely went wrong.
    CBATTErrorCodeUnlikelyError = 0x0E,
    /// The link has to be encrypted first.
    CBATTErrorCodeInsufficientEncryption = 0x0F,
    /// The attribute type does not group others.
    CBATTErrorCodeUnsupportedGroupType = 0x10,
    /// The server has no room left.
    CBATTErrorCodeInsufficientResources = 0x11,
};
