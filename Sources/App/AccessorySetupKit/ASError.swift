import ServiceMessages

/// The domain of the errors of AccessorySetupKit.
public let ASErrorDomain = "ASErrorDomain"

/// An error of AccessorySetupKit (behaviour 16.3).
///
/// As an `NSError` the error has the domain ``ASErrorDomain``, and an `NSError` of that domain casts to this type. What
/// failed is a text under `NSDebugDescriptionErrorKey`.
public struct ASError: _BridgedStoredNSError, CustomStringConvertible, Sendable {
    /// The codes of errors.
    public enum Code: Int, Hashable, Sendable, _ErrorCodeProtocol {
        /// The error type with this code.
        public typealias _ErrorType = ASError

        /// The operation succeeded.
        case success = 0
        /// The reason is not known.
        case unknown = 1
        /// The session could not be activated, for example because the system is older than iOS 18.
        case activationFailed = 100
        /// There was no connection to the accessory, or it did not pair.
        case connectionFailed = 150
        /// Nothing was found in time.
        case discoveryTimeout = 200
        /// The app has no extension that finds accessories.
        case extensionNotFound = 300
        /// The session has ended.
        case invalidated = 400
        /// The request is not valid.
        case invalidRequest = 450
        /// A picker is on the screen already.
        case pickerAlreadyActive = 500
        /// The picker cannot be shown, for example because the app is in the background.
        case pickerRestricted = 550
        /// The user has cancelled.
        case userCancelled = 700
        /// The user has restricted access. It does not occur here.
        case userRestricted = 750
    }

    /// The error as Foundation represents it.
    public let _nsError: NSError

    /// Creates the error from its Foundation representation.
    ///
    /// - Parameter error: The error, which is kept with its `userInfo`.
    /// - Precondition: The error is of the domain ``ASErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == ASErrorDomain, "an error of \(error.domain) is not an ASError; use `as? ASError`")
        _nsError = error
    }

    /// Creates an error with a code.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - userInfo: Further information.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: ASErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The code and what failed.
    public var description: String {
        let reason = _nsError.userInfo[NSDebugDescriptionErrorKey].map { " (\($0))" } ?? ""
        return "\(ASErrorDomain) Code=\(_nsError.code) \(code)\(reason)"
    }

    /// The domain of every error of this type, ``ASErrorDomain``.
    public static var errorDomain: String { ASErrorDomain }
    /// The domain of every error of this type, ``ASErrorDomain``.
    public static var _nsErrorDomain: String { ASErrorDomain }

    /// Hashes the code, which is consistent with equality. `NSError` itself cannot be hashed on Linux.
    public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }
}

// With `_BridgedStoredNSError` alone, an `NSError` would not cast to it.
extension ASError: _ObjectiveCBridgeable {
    /// Returns the error as Foundation represents it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Converts an error of the domain ``ASErrorDomain``, and traps for any other.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout ASError?) {
        result = ASError(_nsError: source)
    }

    /// Converts an error of the domain ``ASErrorDomain``; returns false for any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout ASError?) -> Bool {
        result = source.domain == ASErrorDomain ? ASError(_nsError: source) : nil
        return result != nil
    }

    /// Converts an error of the domain ``ASErrorDomain``. Nil becomes an error with code 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> ASError {
        ASError(_nsError: source ?? NSError(domain: ASErrorDomain, code: 0))
    }
}

/// The codes under their names on the error type, for `catch ASError.userCancelled`.
extension ASError {
    /// The operation succeeded (0).
    public static var success: Code { .success }
    /// The reason is not known (1).
    public static var unknown: Code { .unknown }
    /// The session could not be activated (100).
    public static var activationFailed: Code { .activationFailed }
    /// There was no connection to the accessory, or it did not pair (150).
    public static var connectionFailed: Code { .connectionFailed }
    /// Nothing was found in time (200).
    public static var discoveryTimeout: Code { .discoveryTimeout }
    /// The app has no extension that finds accessories (300).
    public static var extensionNotFound: Code { .extensionNotFound }
    /// The session has ended (400).
    public static var invalidated: Code { .invalidated }
    /// The request is not valid (450).
    public static var invalidRequest: Code { .invalidRequest }
    /// A picker is on the screen already (500).
    public static var pickerAlreadyActive: Code { .pickerAlreadyActive }
    /// The picker cannot be shown (550).
    public static var pickerRestricted: Code { .pickerRestricted }
    /// The user has cancelled (700).
    public static var userCancelled: Code { .userCancelled }
    /// The user has restricted access (750).
    public static var userRestricted: Code { .userRestricted }
}

extension ASError {
    init(_ error: SetupError) {
        let code: Code =
            switch error.code {
            case .unknown: .unknown
            case .activationFailed: .activationFailed
            case .connectionFailed: .connectionFailed
            case .discoveryTimeout: .discoveryTimeout
            case .extensionNotFound: .extensionNotFound
            case .invalidated: .invalidated
            case .invalidRequest: .invalidRequest
            case .pickerAlreadyActive: .pickerAlreadyActive
            case .pickerRestricted: .pickerRestricted
            case .userCancelled: .userCancelled
            }
        self.init(code, userInfo: error.reason.map { [NSDebugDescriptionErrorKey: $0] } ?? [:])
    }
}
