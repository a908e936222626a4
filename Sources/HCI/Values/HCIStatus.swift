import BluetoothTypes

/// The error codes of the controller (Core Vol 1 Part F 1.3).
package struct HCIStatus: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log, with the number.
    package var description: String {
        "\(Self.names[rawValue] ?? "reserved") (0x\(String(rawValue, radix: 16)))"
    }

    /// Success.
    package static let success = HCIStatus(rawValue: 0x00)
    /// The controller does not know the command.
    package static let unknownCommand = HCIStatus(rawValue: 0x01)
    /// No connection, set or sync has this number.
    package static let unknownConnection = HCIStatus(rawValue: 0x02)
    /// The controller failed in a way that no other code describes.
    package static let hardwareFailure = HCIStatus(rawValue: 0x03)
    /// The peer did not answer a page (BR/EDR).
    package static let pageTimeout = HCIStatus(rawValue: 0x04)
    /// Authentication or pairing failed.
    package static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The peer has no key to encrypt with.
    package static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    /// The controller has no memory left for this, for example no free entry in a list.
    package static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// Nothing was heard from the peer for the supervision timeout.
    package static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// The controller holds as many connections as it can.
    package static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// As many synchronous connections as possible are open to this peer.
    package static let synchronousConnectionLimitExceeded = HCIStatus(rawValue: 0x0A)
    /// There is a connection to this peer already.
    package static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    /// The controller is in a state in which the command is not allowed.
    package static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    /// The peer refused for want of resources.
    package static let rejectedForLimitedResources = HCIStatus(rawValue: 0x0D)
    /// The peer refused for reasons of security.
    package static let rejectedForSecurity = HCIStatus(rawValue: 0x0E)
    /// The peer refused this address.
    package static let rejectedForUnacceptableAddress = HCIStatus(rawValue: 0x0F)
    /// Nobody accepted the connection in time.
    package static let connectionAcceptTimeout = HCIStatus(rawValue: 0x10)
    /// The controller does not support the feature or the value.
    package static let unsupportedFeatureOrParameter = HCIStatus(rawValue: 0x11)
    /// A parameter of the command is out of its range, or contradicts another.
    package static let invalidParameters = HCIStatus(rawValue: 0x12)
    /// The user of the peer, or its host, ended the connection.
    package static let remoteUserTerminated = HCIStatus(rawValue: 0x13)
    /// The peer ended the connection for want of resources.
    package static let remoteLowResources = HCIStatus(rawValue: 0x14)
    /// The peer ended the connection because it switches off.
    package static let remotePowerOff = HCIStatus(rawValue: 0x15)
    /// This host ended the connection.
    package static let localHostTerminated = HCIStatus(rawValue: 0x16)
    /// Authentication is not allowed again so soon.
    package static let repeatedAttempts = HCIStatus(rawValue: 0x17)
    /// The peer does not allow pairing.
    package static let pairingNotAllowed = HCIStatus(rawValue: 0x18)
    /// The peer does not know an LMP message.
    package static let unknownLMPPDU = HCIStatus(rawValue: 0x19)
    /// The peer does not support the feature.
    package static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    /// A link-layer message has a parameter that is not allowed.
    package static let invalidLinkLayerParameters = HCIStatus(rawValue: 0x1E)
    /// No other code fits.
    package static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    /// A link-layer message has a parameter value that is not supported.
    package static let unsupportedLinkLayerParameter = HCIStatus(rawValue: 0x20)
    /// The role cannot be changed now.
    package static let roleChangeNotAllowed = HCIStatus(rawValue: 0x21)
    /// The peer's link layer did not answer in time.
    package static let linkLayerResponseTimeout = HCIStatus(rawValue: 0x22)
    /// Both sides began the same procedure.
    package static let linkLayerProcedureCollision = HCIStatus(rawValue: 0x23)
    /// An LMP message came at a moment at which it is not allowed.
    package static let lmpPDUNotAllowed = HCIStatus(rawValue: 0x24)
    /// The encryption mode is not acceptable now.
    package static let encryptionModeNotAcceptable = HCIStatus(rawValue: 0x25)
    /// The instant at which a change was to happen is over.
    package static let instantPassed = HCIStatus(rawValue: 0x28)
    /// A unit key was asked for.
    package static let pairingWithUnitKeyNotSupported = HCIStatus(rawValue: 0x29)
    /// Another procedure that excludes this one is under way.
    package static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    /// The peer does not classify channels.
    package static let channelClassificationNotSupported = HCIStatus(rawValue: 0x2E)
    /// The link is not secure enough for this.
    package static let insufficientSecurity = HCIStatus(rawValue: 0x2F)
    /// A parameter is outside its mandatory range.
    package static let parameterOutOfRange = HCIStatus(rawValue: 0x30)
    /// The peer's host pairs with somebody else.
    package static let hostBusyPairing = HCIStatus(rawValue: 0x38)
    /// No channel fits the connection.
    package static let noSuitableChannel = HCIStatus(rawValue: 0x39)
    /// The controller cannot do this now.
    package static let controllerBusy = HCIStatus(rawValue: 0x3A)
    /// The connection parameters are not acceptable.
    package static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    /// Advertising ended because its time was over.
    package static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    /// An encrypted packet did not authenticate, so the connection ended.
    package static let terminatedByMICFailure = HCIStatus(rawValue: 0x3D)
    /// The peer did not answer in the first six connection events, or synchronisation failed.
    package static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    /// The clock will be dragged instead of set.
    package static let coarseClockAdjustmentRejected = HCIStatus(rawValue: 0x40)
    /// A submap of channels is not defined.
    package static let type0SubmapNotDefined = HCIStatus(rawValue: 0x41)
    /// No advertising set or sync has this number.
    package static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    /// As many events or advertisements as asked for have been sent.
    package static let limitReached = HCIStatus(rawValue: 0x43)
    /// The host cancelled the operation.
    package static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    /// The packet does not fit the time or the length that is left.
    package static let packetTooLong = HCIStatus(rawValue: 0x45)
    /// It is too late for what was asked.
    package static let tooLate = HCIStatus(rawValue: 0x46)
    /// It is too early for what was asked.
    package static let tooEarly = HCIStatus(rawValue: 0x47)
    /// Too few channels are left.
    package static let insufficientChannels = HCIStatus(rawValue: 0x48)

    static let names: [UInt8: String] = [
        0x00: "success",
        0x01: "unknown command",
        0x02: "unknown connection",
        0x03: "hardware failure",
        0x04: "page timeout",
        0x05: "authentication failure",
        0x06: "pin or key missing",
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
        0x19: "unknown LMPPDU",
        0x1A: "unsupported remote feature",
        0x1E: "invalid link layer parameters",
        0x1F: "unspecified error",
        0x20: "unsupported link layer parameter",
        0x21: "role change not allowed",
        0x22: "link layer response timeout",
        0x23: "link layer procedure collision",
        0x24: "lmp PDU not allowed",
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
        0x41: "type0 submap not defined",
        0x42: "unknown advertising identifier",
        0x43: "limit reached",
        0x44: "operation cancelled by host",
        0x45: "packet too long",
        0x46: "too late",
        0x47: "too early",
        0x48: "insufficient channels",
    ]
}
