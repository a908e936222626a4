import Foundation

/// The domain of errors that the peer's attribute server returned (behaviour 5.4).
public let CBATTErrorDomain = "CBATTErrorDomain"

/// An error that an attribute server returned in answer to a request (behaviours 5.4, 5.27).
///
/// Trouble on this side, or on the way to the peer, is a ``CBError`` instead. As an `NSError` the error has the domain
/// ``CBATTErrorDomain``; an `NSError` of that domain casts to this type, whatever its code.
public struct CBATTError: _BridgedStoredNSError, CustomStringConvertible, Sendable {
    /// The code in the Error Response. Any raw value makes a code; applications and profiles define their own from 0x80
    /// on.
    public typealias Code = CBATTErrorCode

    /// The error as Foundation represents it.
    public let _nsError: NSError

    /// Creates the error from its Foundation representation.
    ///
    /// - Parameter error: The error, which is kept with its `userInfo`.
    /// - Precondition: The error is of the domain ``CBATTErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(
            error.domain == CBATTErrorDomain,
            "an error of \(error.domain) is not a CBATTError; use `as? CBATTError`"
        )
        _nsError = error
    }

    /// Creates an error with a code.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - userInfo: Further information. Unless it has an `NSLocalizedDescriptionKey`, the error gets the description
    ///     of its code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(CBATTErrorDomain, code.rawValue, errorTexts[code] ?? "Unknown ATT error.", userInfo)
    }

    /// The error in the format that Apple's systems print.
    public var description: String { _nsError.text }

    /// The domain of every error of this type, ``CBATTErrorDomain``.
    public static var errorDomain: String { CBATTErrorDomain }
    /// The domain of every error of this type, ``CBATTErrorDomain``.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// Hashes the code, which is consistent with equality. `NSError` itself cannot be hashed on Linux: its
    /// implementation calls itself without end.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBATTErrorCode: @retroactive _ErrorCodeProtocol {
    /// The error type with this code.
    public typealias _ErrorType = CBATTError
}

// With `_BridgedStoredNSError` alone, an `NSError` would not cast to it.
extension CBATTError: _ObjectiveCBridgeable {
    /// Returns the error as Foundation represents it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Converts an error of the domain ``CBATTErrorDomain``, and traps for any other.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) {
        result = CBATTError(_nsError: source)
    }

    /// Converts an error of the domain ``CBATTErrorDomain``; returns false for any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) -> Bool {
        result = source.domain == CBATTErrorDomain ? CBATTError(_nsError: source) : nil
        return result != nil
    }

    /// Converts an error of the domain ``CBATTErrorDomain``. Nil becomes an error with code 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBATTError {
        CBATTError(_nsError: source ?? NSError(domain: CBATTErrorDomain, code: 0))
    }
}

/// The codes under their names on the error type, for `catch CBATTError.insufficientEncryption`.
extension CBATTError {
    /// Success: the code with which a peripheral accepts a request (0x00).
    public static var success: Code { .success }
    /// The server has no attribute with this handle (0x01).
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read (0x02).
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written (0x03).
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request was malformed (0x04).
    public static var invalidPdu: Code { .invalidPdu }
    /// The link has to be authenticated first (0x05). The system then pairs and repeats the request by itself
    /// (behaviour 6.1).
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The server does not support this kind of request (0x06).
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value (0x07).
    public static var invalidOffset: Code { .invalidOffset }
    /// The client is not authorized (0x08).
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// The server's queue of prepared writes is full (0x09).
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// There is no such attribute in the range of handles (0x0A).
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read in parts (0x0B).
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key is too short (0x0C).
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The attribute does not accept a value of this length (0x0D).
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// The server failed for an unexpected reason (0x0E).
    public static var unlikelyError: Code { .unlikelyError }
    /// The link has to be encrypted first (0x0F). The system then pairs and repeats the request by itself
    /// (behaviour 6.1).
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attribute type cannot group other attributes (0x10).
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server lacks the resources to complete the request (0x11).
    public static var insufficientResources: Code { .insufficientResources }
}

/// The description of each code. Some apps compare these strings; all but that of 0 are Apple's (behaviour 5.27).
private let errorTexts: [CBATTErrorCode: String] = [
    .success: "The command succeeded.",
    .invalidHandle: "The handle is invalid.",
    .readNotPermitted: "Reading is not permitted.",
    .writeNotPermitted: "Writing is not permitted.",
    .invalidPdu: "The command is invalid.",
    .insufficientAuthentication: "Authentication is insufficient.",
    .requestNotSupported: "The request is not supported.",
    .invalidOffset: "The offset is invalid.",
    .insufficientAuthorization: "Authorization is insufficient.",
    .prepareQueueFull: "The prepare queue is full.",
    .attributeNotFound: "The attribute could not be found.",
    .attributeNotLong: "The attribute is not long.",
    .insufficientEncryptionKeySize: "The encryption key size is insufficient.",
    .invalidAttributeValueLength: "The value's length is invalid.",
    .unlikelyError: "Unlikely error.",
    .insufficientEncryption: "Encryption is insufficient.",
    .unsupportedGroupType: "The group type is unsupported.",
    .insufficientResources: "Resources are insufficient.",
]
