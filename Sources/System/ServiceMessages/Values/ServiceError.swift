import BluetoothTypes

/// An error code of the attribute protocol, as an app sends and receives it; 0 for success.
public struct ATTStatus: WireValue {
    /// The number on the wire.
    public var rawValue: UInt8

    /// Creates a status from any number, including unassigned ones.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No error (0).
    public static let success = ATTStatus(rawValue: 0)
}

/// The reason why a request of an app failed: the code that the API shows, and its cause.
public struct ServiceError: Error, Hashable, Sendable {
    /// The code of an error in one of the API's error domains.
    public enum Code: Hashable, Sendable {
        /// `CBError`.
        case core(CoreCode)
        /// `CBATTError`: the peer's attribute server returned an error.
        case att(ATTStatus)
    }

    /// The codes of `CBError`, with its raw values (behaviour 5.26).
    public enum CoreCode: Int, Hashable, Sendable {
        /// The reason is not known.
        case unknown = 0
        /// An argument is not valid.
        case invalidParameters = 1
        /// The attribute is no longer valid; it has to be discovered again (behaviour 4.16).
        case invalidHandle = 2
        /// There is no connection to the device.
        case notConnected = 3
        /// There is no space left for the operation.
        case outOfSpace = 4
        /// The operation was cancelled, or its manager is closed.
        case operationCancelled = 5
        /// The link was lost: the device did not answer within the supervision timeout (behaviour 3.12).
        case connectionTimeout = 6
        /// The peer ended the link (behaviour 3.12).
        case peripheralDisconnected = 7
        /// The service is one that the system itself provides (behaviour 7.10).
        case uuidNotAllowed = 8
        /// The manager is advertising already (behaviour 7.17).
        case alreadyAdvertising = 9
        /// The link could not be established.
        case connectionFailed = 10
        /// The limit on the number of links is reached (behaviour 3.33).
        case connectionLimitReached = 11
        /// The device is not known.
        case unknownDevice = 12
        /// The device or the system does not support the operation.
        case operationNotSupported = 13
        /// The peer has lost its keys for this bond (behaviour 6.12).
        case peerRemovedPairingInformation = 14
        /// Encryption did not start in time (behaviour 6.13).
        case encryptionTimedOut = 15
        /// The limit on the number of bonded devices is reached (behaviour 6.13).
        case tooManyLEPairedDevices = 16
        /// A session that measures the distance could not be configured (behaviour 17.2).
        case channelSoundingConfigurationFailed = 19
        /// A distance could not be measured (behaviour 17.5).
        case channelSoundingProcedureFailed = 20
    }

    /// A protocol layer whose error code can be the cause of an error.
    public enum Layer: UInt8, Hashable, Sendable {
        /// The attribute protocol: an Error Response (Core Vol 3 Part F 3.4.1.1).
        case att
        /// The Security Manager: the reason why pairing failed (Core Vol 3 Part H 3.5.5).
        case smp
        /// The controller: an error code (Core Vol 1 Part F).
        case hci
    }

    /// The code that caused an error (behaviours 15.9, 15.10).
    public struct Cause: Hashable, Sendable {
        /// The layer that defines the code.
        public var layer: Layer
        /// The code, as that layer numbers it.
        public var code: UInt8

        /// Creates a cause from a code of a layer.
        public init(_ layer: Layer, _ code: UInt8) {
            self.layer = layer
            self.code = code
        }
    }

    /// The code that the API shows.
    public var code: Code
    /// A description of what failed in which layer, for people to read; nil if there is none.
    public var reason: String?
    /// The same for programs; nil if the layer has no code for it.
    public var cause: Cause?

    /// Creates an error of the API's own domain.
    ///
    /// - Parameters:
    ///   - code: The code of `CBError`.
    ///   - reason: What failed in which layer, for people to read; nil for no description.
    ///   - cause: The code of the layer that failed; nil if it has none.
    public init(_ code: CoreCode, reason: String? = nil, cause: Cause? = nil) {
        self.code = .core(code)
        self.reason = reason
        self.cause = cause
    }

    /// Creates an error that a peer's attribute server returned.
    ///
    /// - Parameters:
    ///   - status: The error code of the attribute protocol, which becomes the code of `CBATTError`.
    ///   - reason: What failed in which layer, for people to read; nil for no description.
    ///   - cause: The code of the layer that failed; nil if it has none.
    public init(att status: ATTStatus, reason: String? = nil, cause: Cause? = nil) {
        code = .att(status)
        self.reason = reason
        self.cause = cause
    }
}

extension ServiceError {
    /// The message refers to a manager that no longer exists or never did.
    package static let noManager = ServiceError(.operationCancelled, reason: "the manager is closed")
}
