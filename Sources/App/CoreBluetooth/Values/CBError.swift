import Foundation
import ServiceMessages

/// The domain of errors of the system in the central and peripheral role (behaviour 5.4).
public let CBErrorDomain = "CBErrorDomain"

/// An error of the system in the central or peripheral role (behaviours 5.4, 5.26).
///
/// Errors that a peer's attribute server returns are ``CBATTError`` instead. As an `NSError` the error has the domain
/// ``CBErrorDomain``, and an `NSError` of that domain casts to this type. Where a lower layer gave the reason, its code
/// is in `userInfo` (behaviours 15.9, 15.10), and a text under `NSDebugDescriptionErrorKey`.
public struct CBError: _BridgedStoredNSError, CustomStringConvertible, Sendable {
    /// The code of the error.
    public typealias Code = CBErrorCode

    /// The error as Foundation represents it.
    public let _nsError: NSError

    /// Creates the error from its Foundation representation.
    ///
    /// - Parameter error: The error, which is kept with its `userInfo`.
    /// - Precondition: The error is of the domain ``CBErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == CBErrorDomain, "an error of \(error.domain) is not a CBError; use `as? CBError`")
        _nsError = error
    }

    /// Creates an error with a code.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - userInfo: Further information. Unless it has an `NSLocalizedDescriptionKey`, the error gets the description
    ///     of its code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(CBErrorDomain, code.rawValue, errorTexts[code] ?? "Unknown error.", userInfo)
    }

    /// The error in the format that Apple's systems print.
    public var description: String { _nsError.text }

    /// The domain of every error of this type, ``CBErrorDomain``.
    public static var errorDomain: String { CBErrorDomain }
    /// The domain of every error of this type, ``CBErrorDomain``.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// Hashes the code, which is consistent with equality. `NSError` itself cannot be hashed on Linux: its
    /// implementation calls itself without end.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBErrorCode: @retroactive _ErrorCodeProtocol {
    /// The error type with this code.
    public typealias _ErrorType = CBError
}

// With `_BridgedStoredNSError` alone, an `NSError` would not cast to it.
extension CBError: _ObjectiveCBridgeable {
    /// Returns the error as Foundation represents it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Converts an error of the domain ``CBErrorDomain``, and traps for any other.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) {
        result = CBError(_nsError: source)
    }

    /// Converts an error of the domain ``CBErrorDomain``; returns false for any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) -> Bool {
        result = source.domain == CBErrorDomain ? CBError(_nsError: source) : nil
        return result != nil
    }

    /// Converts an error of the domain ``CBErrorDomain``. Nil becomes an error with code 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBError {
        CBError(_nsError: source ?? NSError(domain: CBErrorDomain, code: 0))
    }
}

/// The codes under their names on the error type, for `catch CBError.connectionTimeout`.
extension CBError {
    /// The reason is not known (0).
    public static var unknown: Code { .unknown }
    /// An argument is not valid (1).
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute is no longer valid; discover it again (2, behaviour 4.16).
    public static var invalidHandle: Code { .invalidHandle }
    /// There is no connection to the device (3).
    public static var notConnected: Code { .notConnected }
    /// There is no space left for the operation (4).
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled (5).
    public static var operationCancelled: Code { .operationCancelled }
    /// The link was lost: the device did not answer within the supervision timeout (6, behaviour 3.12).
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The peer ended the link (7, behaviour 3.12).
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The service is one that the system itself provides (8, behaviour 7.10).
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// This manager is advertising already (9, behaviour 7.17).
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The link could not be established (10).
    public static var connectionFailed: Code { .connectionFailed }
    /// The limit on the number of links is reached (11, behaviour 3.33).
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known: the spelling that Apple's header had first (12).
    public static var unkownDevice: Code { .unkownDevice }
    /// The device is not known (12).
    public static var unknownDevice: Code { .unknownDevice }
    /// The device or the system does not support the operation (13).
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The peer has lost its keys for this bond (14, behaviour 6.12).
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// Encryption did not start in time (15, behaviour 6.13).
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// The limit on the number of bonded devices is reached (16, behaviour 6.13).
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// The limit of background notifications on watchOS is exceeded (17, behaviour 9.13). It does not occur here.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// The limit of background notifications on watchOS is near (18, behaviour 9.13). It does not occur here.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The Channel Sounding session could not be configured.
    public static var channelSoundingConfigurationFailed: Code { .channelSoundingConfigurationFailed }
    /// A Channel Sounding procedure failed.
    public static var channelSoundingProcedureFailed: Code { .channelSoundingProcedureFailed }
}

/// The description of each code. Some apps compare these strings; those for 0, 1, 3, 6 to 10, 14 and 15 are
/// Apple's (behaviour 5.26).
private let errorTexts: [CBErrorCode: String] = [
    .unknown: "Unknown error.",
    .invalidParameters: "One or more parameters were invalid.",
    .invalidHandle: "The attribute is no longer valid.",
    .notConnected: "The specified device is not connected.",
    .outOfSpace: "There is not enough space for the operation.",
    .operationCancelled: "The operation was cancelled.",
    .connectionTimeout: "The connection has timed out unexpectedly.",
    .peripheralDisconnected: "The specified device has disconnected from us.",
    .uuidNotAllowed: "The specified UUID is not allowed for this operation.",
    .alreadyAdvertising: "Advertising has already started.",
    .connectionFailed: "The connection has failed unexpectedly.",
    .connectionLimitReached: "The maximum number of connections has been reached.",
    .unkownDevice: "The device is not known.",
    .operationNotSupported: "The operation is not supported.",
    .peerRemovedPairingInformation: "Peer removed pairing information",
    .encryptionTimedOut: "Failed to encrypt the connection, the connection has timed out unexpectedly.",
    .tooManyLEPairedDevices: "Too many devices are already paired.",
    .leGattExceededBackgroundNotificationLimit: "The limit of notifications in the background is exceeded.",
    .leGattNearBackgroundNotificationLimit: "The limit of notifications in the background is near.",
    .channelSoundingConfigurationFailed: "The Channel Sounding session could not be configured.",
    .channelSoundingProcedureFailed: "The distance could not be measured.",
]

extension ServiceError {
    /// The error as the API reports it. The reason is its debug description.
    package var apiError: any Error {
        var userInfo: [String: Any] = [:]
        userInfo[NSDebugDescriptionErrorKey] = reason
        if let cause {
            userInfo[ErrorCauseKey.layer] = cause.layer.name
            userInfo[ErrorCauseKey.code] = NSNumber(value: cause.code)
        }
        switch code {
        case .core(let core): return CBError(CBErrorCode(rawValue: core.rawValue) ?? .unknown, userInfo: userInfo)
        case .att(let status):
            return CBATTError(CBATTErrorCode(rawValue: Int(status.rawValue)) ?? .unlikelyError, userInfo: userInfo)
        }
    }
}

extension Result where Failure == ServiceError {
    /// The error as the API reports it, or nil for success.
    var apiError: (any Error)? {
        if case .failure(let error) = self { error.apiError } else { nil }
    }
}

/// The keys in the `userInfo` of an error for the code of the lower layer, if that gave one (behaviours 15.9, 15.10).
package enum ErrorCauseKey {
    /// The layer: `ATT`, `SMP` or `HCI`.
    package static let layer = "CBErrorReasonLayer"
    /// The code, an `NSNumber`.
    package static let code = "CBErrorReasonCode"
}

extension ServiceError.Layer {
    fileprivate var name: String {
        switch self {
        case .att: "ATT"
        case .smp: "SMP"
        case .hci: "HCI"
        }
    }
}

extension NSError {
    /// Creates an error of the API with a description, unless `userInfo` has one.
    ///
    /// On Linux, Foundation prints the failure reason between quotes, and `(null)` without one. Apple's systems print
    /// the description. Therefore the description becomes the failure reason too.
    convenience init(_ domain: String, _ code: Int, _ text: String, _ userInfo: [String: Any]) {
        let text = userInfo[NSLocalizedDescriptionKey] as? String ?? text
        let texts: [String: Any] = [NSLocalizedDescriptionKey: text, NSLocalizedFailureReasonErrorKey: text]
        self.init(domain: domain, code: code, userInfo: texts.merging(userInfo) { $1 })
    }

    /// The error in the format that Apple's systems print, with the debug description if there is one:
    /// `Error Domain=CBErrorDomain Code=0 "Unknown error." UserInfo={NSLocalizedDescription=Unknown error.}`.
    var text: String {
        let shown = [NSLocalizedDescriptionKey, NSDebugDescriptionErrorKey]
        let info = shown.compactMap { key in userInfo[key].map { "\(key)=\($0)" } }.joined(separator: ", ")
        return "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\" UserInfo={\(info)}"
    }
}
