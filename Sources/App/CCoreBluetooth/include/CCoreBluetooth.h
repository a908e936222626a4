#pragma once

// The enumerations of the API. They are in C, as Apple's are: an open C enumeration accepts any raw value. Therefore
// `CBATTError.Code(rawValue: 0x80)` represents an application's own error, and `@unknown default` has the same meaning
// in a client as on Apple's systems. A Swift enumeration offers neither.
#define CB_ENUM(name) \
    enum __attribute__((enum_extensibility(open))) name : long; \
    typedef enum name name; \
    enum name : long

/// The state of a manager. A new manager is in the state `unknown`, and its delegate is told of changes
/// (behaviours 1.1, 1.3).
CB_ENUM(CBManagerState) {
    /// The state is not known yet; an update is imminent (behaviour 1.4).
    CBManagerStateUnknown = 0,
    /// The connection to the service was lost for a moment; an update is imminent (behaviour 1.4).
    CBManagerStateResetting = 1,
    /// There is no usable controller.
    CBManagerStateUnsupported = 2,
    /// The app is not allowed to use Bluetooth (behaviour 1.18).
    CBManagerStateUnauthorized = 3,
    /// Bluetooth is off.
    CBManagerStatePoweredOff = 4,
    /// Bluetooth is on: the only state in which a manager accepts commands (behaviour 1.6).
    CBManagerStatePoweredOn = 5,
};

/// The app's permission to use Bluetooth (behaviour 1.20).
CB_ENUM(CBManagerAuthorization) {
    /// The user has not been asked yet.
    CBManagerAuthorizationNotDetermined = 0,
    /// Not allowed, and the user cannot change that.
    CBManagerAuthorizationRestricted = 1,
    /// The user has denied the permission.
    CBManagerAuthorizationDenied = 2,
    /// Allowed, in the background as well.
    CBManagerAuthorizationAllowedAlways = 3,
};

/// The state of this app's connection to a peripheral (behaviour 3.4).
CB_ENUM(CBPeripheralState) {
    /// Not connected to this app, whatever other apps do (behaviour 3.9).
    CBPeripheralStateDisconnected = 0,
    /// The app has asked to connect. There is no time limit (behaviour 3.1).
    CBPeripheralStateConnecting = 1,
    /// Connected to this app.
    CBPeripheralStateConnected = 2,
    /// The app has asked to disconnect.
    CBPeripheralStateDisconnecting = 3,
};

/// A change of a device's connection to this system, by any app or by the system (behaviour 3.22).
CB_ENUM(CBConnectionEvent) {
    /// The device was disconnected from the system.
    CBConnectionEventPeerDisconnected = 0,
    /// The device was connected to the system. An app has to connect to it before use.
    CBConnectionEventPeerConnected = 1,
};

/// The role of a device in a Channel Sounding session; in Swift `CBChannelSoundingSessionConfiguration.Role`.
CB_ENUM(CBChannelSoundingSessionConfigurationRole) {
    /// The device initiates each procedure.
    CBChannelSoundingSessionConfigurationRoleInitiator = 0,
};

/// The kind of a write.
CB_ENUM(CBCharacteristicWriteType) {
    /// The peer confirms the write, and the delegate is called once (behaviour 5.5).
    CBCharacteristicWriteTypeWithResponse = 0,
    /// The peer does not confirm the write, and the delegate is not called (behaviour 5.5).
    CBCharacteristicWriteTypeWithoutResponse = 1,
};

/// A desired connection latency (behaviour 7.47).
CB_ENUM(CBPeripheralManagerConnectionLatency) {
    /// Fast responses at a high energy cost.
    CBPeripheralManagerConnectionLatencyLow = 0,
    /// A compromise between the two.
    CBPeripheralManagerConnectionLatencyMedium = 1,
    /// Slow responses at a low energy cost.
    CBPeripheralManagerConnectionLatencyHigh = 2,
};

/// The state of a central manager, by the names of old code. The values are those of `CBManagerState`.
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

/// The state of a peripheral manager, by the names of old code. The values are those of `CBManagerState`.
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

/// The permission to be a peripheral, by the names of old code; `CBManagerAuthorization` is its present form.
CB_ENUM(CBPeripheralManagerAuthorizationStatus) {
    /// The user has not been asked yet.
    CBPeripheralManagerAuthorizationStatusNotDetermined = 0,
    /// Not allowed, and the user cannot change that.
    CBPeripheralManagerAuthorizationStatusRestricted = 1,
    /// The user has denied the permission.
    CBPeripheralManagerAuthorizationStatusDenied = 2,
    /// Allowed.
    CBPeripheralManagerAuthorizationStatusAuthorized = 3,
};

/// The code of an error in the central or peripheral role; in Swift `CBError.Code` (behaviour 5.26).
CB_ENUM(CBErrorCode) {
    /// The reason is not known.
    CBErrorCodeUnknown = 0,
    /// An argument is not valid.
    CBErrorCodeInvalidParameters = 1,
    /// The attribute is no longer valid (behaviour 4.16).
    CBErrorCodeInvalidHandle = 2,
    /// There is no connection to the device.
    CBErrorCodeNotConnected = 3,
    /// There is no space left for the operation.
    CBErrorCodeOutOfSpace = 4,
    /// The operation was cancelled.
    CBErrorCodeOperationCancelled = 5,
    /// The link was lost (behaviour 3.12).
    CBErrorCodeConnectionTimeout = 6,
    /// The peer ended the link (behaviour 3.12).
    CBErrorCodePeripheralDisconnected = 7,
    /// The service is one that the system itself provides (behaviour 7.10).
    CBErrorCodeUuidNotAllowed = 8,
    /// This manager is advertising already (behaviour 7.17).
    CBErrorCodeAlreadyAdvertising = 9,
    /// The link could not be established.
    CBErrorCodeConnectionFailed = 10,
    /// The limit on the number of links is reached (behaviour 3.33).
    CBErrorCodeConnectionLimitReached = 11,
    /// The device is not known. The misspelling is Apple's and came first, so it is the enumerator's name.
    CBErrorCodeUnkownDevice = 12,
    /// The device is not known.
    CBErrorCodeUnknownDevice = 12,
    /// The device or the system does not support the operation.
    CBErrorCodeOperationNotSupported = 13,
    /// The peer has lost its keys for this bond (behaviour 6.12).
    CBErrorCodePeerRemovedPairingInformation = 14,
    /// Encryption did not start in time (behaviour 6.13).
    CBErrorCodeEncryptionTimedOut = 15,
    /// The limit on the number of bonded devices is reached (behaviour 6.13).
    CBErrorCodeTooManyLEPairedDevices = 16,
    /// The limit of background notifications on watchOS is exceeded (behaviour 9.13). It does not occur here.
    CBErrorCodeLeGattExceededBackgroundNotificationLimit = 17,
    /// The limit of background notifications on watchOS is near (behaviour 9.13). It does not occur here.
    CBErrorCodeLeGattNearBackgroundNotificationLimit = 18,
    /// The Channel Sounding session could not be configured. The value is not published; it follows from the order.
    CBErrorCodeChannelSoundingConfigurationFailed = 19,
    /// A Channel Sounding procedure failed. The value is not published; it follows from the order.
    CBErrorCodeChannelSoundingProcedureFailed = 20,
};

/// The error code of an attribute server (Core Vol 3 Part F 3.4.1.1); in Swift `CBATTError.Code`. Applications and
/// profiles define their own codes from 0x80 on, which have no names here.
CB_ENUM(CBATTErrorCode) {
    /// Success.
    CBATTErrorCodeSuccess = 0x00,
    /// The server has no attribute with this handle.
    CBATTErrorCodeInvalidHandle = 0x01,
    /// The attribute cannot be read.
    CBATTErrorCodeReadNotPermitted = 0x02,
    /// The attribute cannot be written.
    CBATTErrorCodeWriteNotPermitted = 0x03,
    /// The request was malformed.
    CBATTErrorCodeInvalidPdu = 0x04,
    /// The link has to be authenticated first.
    CBATTErrorCodeInsufficientAuthentication = 0x05,
    /// The server does not support this kind of request.
    CBATTErrorCodeRequestNotSupported = 0x06,
    /// The offset is past the end of the value.
    CBATTErrorCodeInvalidOffset = 0x07,
    /// The client is not authorized.
    CBATTErrorCodeInsufficientAuthorization = 0x08,
    /// The server's queue of prepared writes is full.
    CBATTErrorCodePrepareQueueFull = 0x09,
    /// There is no such attribute in the range of handles.
    CBATTErrorCodeAttributeNotFound = 0x0A,
    /// The attribute cannot be read in parts.
    CBATTErrorCodeAttributeNotLong = 0x0B,
    /// The encryption key is too short.
    CBATTErrorCodeInsufficientEncryptionKeySize = 0x0C,
    /// The attribute does not accept a value of this length.
    CBATTErrorCodeInvalidAttributeValueLength = 0x0D,
    /// The server failed for an unexpected reason.
    CBATTErrorCodeUnlikelyError = 0x0E,
    /// The link has to be encrypted first.
    CBATTErrorCodeInsufficientEncryption = 0x0F,
    /// The attribute type cannot group other attributes.
    CBATTErrorCodeUnsupportedGroupType = 0x10,
    /// The server lacks the resources to complete the request.
    CBATTErrorCodeInsufficientResources = 0x11,
};
