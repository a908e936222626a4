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
        case unknown = 0
        case invalidParameters = 1
        case invalidHandle = 2
        case notConnected = 3
        case outOfSpace = 4
        case operationCancelled = 5
        case connectionTimeout = 6
        case peripheralDisconnected = 7
        case uuidNotAllowed = 8
        case alreadyAdvertising = 9
        case connectionFailed = 10
        case connectionLimitReached = 11
        case unknownDevice = 12
        case operationNotSupported = 13
        case peerRemovedPairingInformation = 14
        case encryptionTimedOut = 15
        case tooManyLEPairedDevices = 16
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
    public init(_ code: CoreCode, reason: String? = nil, cause: Cause? = nil) {
        self.code = .core(code)
        self.reason = reason
        self.cause = cause
    }

    /// Creates an error that a peer's attribute server returned.
    public init(att status: ATTStatus, reason: String? = nil, cause: Cause? = nil) {
        code = .att(status)
        self.reason = reason
        self.cause = cause
    }
}
