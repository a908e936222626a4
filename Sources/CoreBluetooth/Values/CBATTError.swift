import Foundation

/// The domain of errors that attribute servers answer with.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// An error that an attribute server answered with. As an `NSError` it is of the domain ``CBATTErrorDomain``, and such an
/// `NSError` casts to it, whatever its code.
public struct CBATTError: _BridgedStoredNSError, CustomStringConvertible, Sendable {
    /// What the server answered. Any raw value makes a code; applications and profiles have theirs from 0x80 on.
    public typealias Code = CBATTErrorCode

    /// The error as Foundation has it.
    public let _nsError: NSError

    /// The error in another form.
    ///
    /// - Precondition: It is of the domain ``CBATTErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(
            error.domain == CBATTErrorDomain,
            "an error of \(error.domain) is not a CBATTError; use `as? CBATTError`"
        )
        _nsError = error
    }

    /// An error. Unless `userInfo` has a text for people, it gets the one for the code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(CBATTErrorDomain, code.rawValue, errorTexts[code] ?? "Unknown ATT error.", userInfo)
    }

    /// The error as Apple's systems print it.
    public var description: String { _nsError.text }

    /// ``CBATTErrorDomain``.
    public static var errorDomain: String { CBATTErrorDomain }
    /// ``CBATTErrorDomain``.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// Follows equality. `NSError` itself cannot be hashed on Linux: its hash calls itself without end.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBATTErrorCode: @retroactive _ErrorCodeProtocol {
    /// The error with this code.
    public typealias _ErrorType = CBATTError
}

// With `_BridgedStoredNSError` alone, an `NSError` would not cast to it.
extension CBATTError: _ObjectiveCBridgeable {
    /// The error as Foundation has it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// The error in another form.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) {
        result = CBATTError(_nsError: source)
    }

    /// The error in another form if its domain is the right one.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) -> Bool {
        result = source.domain == CBATTErrorDomain ? CBATTError(_nsError: source) : nil
        return result != nil
    }

    /// The error in another form; without one, code 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBATTError {
        CBATTError(_nsError: source ?? NSError(domain: CBATTErrorDomain, code: 0))
    }
}

/// The same names on the error itself, for `catch CBATTError.insufficientEncryption`.
extension CBATTError {
    /// No error.
    public static var success: Code { .success }
    /// There is no such attribute.
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request was malformed.
    public static var invalidPdu: Code { .invalidPdu }
    /// The link has to be authenticated first.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The server does not know the request.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value.
    public static var invalidOffset: Code { .invalidOffset }
    /// The client is not authorized.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many writes are prepared.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// No attribute in the range.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read in parts.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key is too short.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value has a length that the attribute does not take.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// Something unlikely went wrong.
    public static var unlikelyError: Code { .unlikelyError }
    /// The link has to be encrypted first.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attribute type does not group others.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server has no room left.
    public static var insufficientResources: Code { .insufficientResources }
}

/// Apps have been seen to compare texts; those for 15 and for codes without a name are Apple's.
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
    .unsupportedGroupType: "The group type is not supported.",
    .insufficientResources: "Resources are insufficient.",
]
