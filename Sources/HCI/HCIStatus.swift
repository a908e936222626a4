import BluetoothTypes

/// The error codes of the controller (Core Vol 1 Part F 1.3).
public struct HCIStatus: WireValue, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: UInt8

    /// Any number, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let success = HCIStatus(rawValue: 0x00)
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    public static let unknownConnection = HCIStatus(rawValue: 0x02)
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    public static let rejectedForLimitedResources = HCIStatus(rawValue: 0x0D)
    public static let unsupportedFeatureOrParameter = HCIStatus(rawValue: 0x11)
    public static let invalidParameters = HCIStatus(rawValue: 0x12)
    public static let remoteUserTerminated = HCIStatus(rawValue: 0x13)
    public static let remoteLowResources = HCIStatus(rawValue: 0x14)
    public static let remotePowerOff = HCIStatus(rawValue: 0x15)
    public static let localHostTerminated = HCIStatus(rawValue: 0x16)
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    public static let invalidLinkLayerParameters = HCIStatus(rawValue: 0x1E)
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    public static let unsupportedLinkLayerParameter = HCIStatus(rawValue: 0x20)
    public static let linkLayerResponseTimeout = HCIStatus(rawValue: 0x22)
    public static let linkLayerProcedureCollision = HCIStatus(rawValue: 0x23)
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    public static let parameterOutOfRange = HCIStatus(rawValue: 0x30)
    public static let controllerBusy = HCIStatus(rawValue: 0x3A)
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    public static let terminatedByMICFailure = HCIStatus(rawValue: 0x3D)
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    public static let limitReached = HCIStatus(rawValue: 0x43)
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)

    /// The name for a log, with the number.
    public var description: String { "0x" + String(rawValue, radix: 16) }
}
