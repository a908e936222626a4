import BluetoothTypes

/// The error codes of the attribute protocol, as an app answers with them and is told of them; 0 is success.
public struct ATTStatus: WireValue {
    /// The number on the wire.
    public var rawValue: UInt8

    /// Any number, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No error.
    public static let success = ATTStatus(rawValue: 0)
}

/// Why something that an app asked for failed: the code that the API shows, and what lies behind it.
public struct ServiceError: Error, Hashable, Sendable {
    /// The error domains of the API.
    public enum Code: Hashable, Sendable {
        /// `CBError`.
        case core(CoreCode)
        /// `CBATTError`: the peer's attribute server refused.
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

    /// The protocols whose codes may lie behind an error.
    public enum Layer: UInt8, Hashable, Sendable {
        /// The attribute protocol: an Error Response (Core Vol 3 Part F 3.4.1.1).
        case att
        /// The security manager: why a pairing failed (Core Vol 3 Part H 3.5.5).
        case smp
        /// The controller: an error code (Core Vol 1 Part F).
        case hci
    }

    /// The code that lies behind an error (behaviours 15.9, 15.10).
    public struct Cause: Hashable, Sendable {
        /// Whose code it is.
        public var layer: Layer
        /// The code.
        public var code: UInt8

        /// A code of a layer.
        public init(_ layer: Layer, _ code: UInt8) {
            self.layer = layer
            self.code = code
        }
    }

    /// What the API shows.
    public var code: Code
    /// The layer below that failed and how, for a person.
    public var reason: String?
    /// The same for a program, where that layer has a code for it.
    public var cause: Cause?

    /// An error of the API's own domain.
    public init(_ code: CoreCode, reason: String? = nil, cause: Cause? = nil) {
        self.code = .core(code)
        self.reason = reason
        self.cause = cause
    }

    /// An error that a peer's attribute server answered with.
    public init(att status: ATTStatus, reason: String? = nil, cause: Cause? = nil) {
        code = .att(status)
        self.reason = reason
        self.cause = cause
    }
}
