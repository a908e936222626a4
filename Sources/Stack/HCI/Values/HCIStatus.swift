import BluetoothTypes

/// An error code of the controller, or success (Core Vol 1 Part F 1.3).
package struct HCIStatus: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The name and the number, such as `connection timeout (0x8)`.
    package var description: String {
        "\(Self.names[rawValue] ?? "reserved") (0x\(String(rawValue, radix: 16)))"
    }

    package static let success = HCIStatus(rawValue: 0x00)
    /// The controller does not support the command.
    package static let unknownCommand = HCIStatus(rawValue: 0x01)
    /// No connection, advertising set or sync has this identifier.
    package static let unknownConnection = HCIStatus(rawValue: 0x02)
    /// The controller has failed in a way that no other code describes.
    package static let hardwareFailure = HCIStatus(rawValue: 0x03)
    /// Authentication or pairing failed.
    package static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The peer has no key for encryption.
    package static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    /// The controller lacks the memory for this, such as a free entry in a list.
    package static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// Nothing was received from the peer within the supervision timeout.
    package static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// The controller has reached its maximum number of connections.
    package static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    package static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    /// The command is not allowed in the current state of the controller.
    package static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    /// The peer refused because of limited resources.
    package static let rejectedForLimitedResources = HCIStatus(rawValue: 0x0D)
    /// The controller does not support the feature or the value.
    package static let unsupportedFeatureOrParameter = HCIStatus(rawValue: 0x11)
    /// A parameter of the command is out of range or contradicts another one.
    package static let invalidParameters = HCIStatus(rawValue: 0x12)
    /// The peer's user or host has ended the connection.
    package static let remoteUserTerminated = HCIStatus(rawValue: 0x13)
    /// The peer has ended the connection because of low resources.
    package static let remoteLowResources = HCIStatus(rawValue: 0x14)
    /// The peer has ended the connection because it is about to power off.
    package static let remotePowerOff = HCIStatus(rawValue: 0x15)
    /// This host has ended the connection.
    package static let localHostTerminated = HCIStatus(rawValue: 0x16)
    /// Too little time has passed since the last failed attempt to authenticate.
    package static let repeatedAttempts = HCIStatus(rawValue: 0x17)
    /// The peer does not support the feature.
    package static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    package static let invalidLinkLayerParameters = HCIStatus(rawValue: 0x1E)
    /// No other code fits.
    package static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    package static let unsupportedLinkLayerParameter = HCIStatus(rawValue: 0x20)
    /// The peer's link layer has not responded in time.
    package static let linkLayerResponseTimeout = HCIStatus(rawValue: 0x22)
    /// Both devices have started the same procedure.
    package static let linkLayerProcedureCollision = HCIStatus(rawValue: 0x23)
    package static let instantPassed = HCIStatus(rawValue: 0x28)
    package static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    /// A different procedure is in progress that excludes this one.
    package static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    /// The link does not have the required security.
    package static let insufficientSecurity = HCIStatus(rawValue: 0x2F)
    package static let controllerBusy = HCIStatus(rawValue: 0x3A)
    package static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    /// Advertising has reached its time limit.
    package static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    /// The connection has ended because the authentication of an encrypted packet failed.
    package static let terminatedByMICFailure = HCIStatus(rawValue: 0x3D)
    /// The peer did not respond within the first six connection events, or synchronization failed.
    package static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    /// No advertising set or sync has this identifier.
    package static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    /// The requested number of events has been reached.
    package static let limitReached = HCIStatus(rawValue: 0x43)
    package static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    /// The packet exceeds the remaining time or length.
    package static let packetTooLong = HCIStatus(rawValue: 0x45)
    package static let tooLate = HCIStatus(rawValue: 0x46)

    private static let names: [UInt8: String] = [
        0x00: "success",
        0x01: "unknown command",
        0x02: "unknown connection",
        0x03: "hardware failure",
        0x04: "page timeout",
        0x05: "authentication failure",
        0x06: "PIN or key missing",
        0x07: "memory capacity exceeded",
        0x08: "connection timeout",
        0x09: "connection limit exceeded",
        0x0A: "synchronous connection limit exceeded",
        0x0B: "connection already exists",
        0x0C: "command disallowed",
        0x0D: "rejected for limited resources",
        0x0E: "rejected for security",
        0x0F: "rejected for unacceptable address",
        0x10: "connection accept timeout",
        0x11: "unsupported feature or parameter",
        0x12: "invalid parameters",
        0x13: "remote user terminated",
        0x14: "remote low resources",
        0x15: "remote power off",
        0x16: "local host terminated",
        0x17: "repeated attempts",
        0x18: "pairing not allowed",
        0x19: "unknown LMP PDU",
        0x1A: "unsupported remote feature",
        0x1E: "invalid link layer parameters",
        0x1F: "unspecified error",
        0x20: "unsupported link layer parameter",
        0x21: "role change not allowed",
        0x22: "link layer response timeout",
        0x23: "link layer procedure collision",
        0x24: "LMP PDU not allowed",
        0x25: "encryption mode not acceptable",
        0x28: "instant passed",
        0x29: "pairing with unit key not supported",
        0x2A: "different transaction collision",
        0x2E: "channel classification not supported",
        0x2F: "insufficient security",
        0x30: "parameter out of range",
        0x38: "host busy pairing",
        0x39: "no suitable channel",
        0x3A: "controller busy",
        0x3B: "unacceptable connection parameters",
        0x3C: "advertising timeout",
        0x3D: "terminated by MIC failure",
        0x3E: "connection failed to be established",
        0x40: "coarse clock adjustment rejected",
        0x41: "type 0 submap not defined",
        0x42: "unknown advertising identifier",
        0x43: "limit reached",
        0x44: "operation cancelled by host",
        0x45: "packet too long",
        0x46: "too late",
        0x47: "too early",
        0x48: "insufficient channels",
    ]
}
