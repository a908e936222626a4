import BluetoothService
import Foundation

/// The domain of errors in the central and peripheral role.
public let CBErrorDomain = "CBErrorDomain"

/// An error in the central or peripheral role. As an `NSError` it is of the domain ``CBErrorDomain``, and such an
/// `NSError` casts to it.
public struct CBError: _BridgedStoredNSError, CustomStringConvertible, Sendable {
    /// What went wrong.
    public typealias Code = CBErrorCode

    /// The error as Foundation has it.
    public let _nsError: NSError

    /// The error in another form.
    ///
    /// - Precondition: It is of the domain ``CBErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == CBErrorDomain, "an error of \(error.domain) is not a CBError; use `as? CBError`")
        _nsError = error
    }

    /// An error. Unless `userInfo` has a text for people, it gets the one for the code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(CBErrorDomain, code.rawValue, errorTexts[code] ?? "Unknown error.", userInfo)
    }

    /// The error as Apple's systems print it.
    public var description: String { _nsError.text }

    /// ``CBErrorDomain``.
    public static var errorDomain: String { CBErrorDomain }
    /// ``CBErrorDomain``.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// Follows equality. `NSError` itself cannot be hashed on Linux: its hash calls itself without end.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

extension CBErrorCode: @retroactive _ErrorCodeProtocol {
    /// The error with this code.
    public typealias _ErrorType = CBError
}

// With `_BridgedStoredNSError` alone, an `NSError` would not cast to it.
extension CBError: _ObjectiveCBridgeable {
    /// The error as Foundation has it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// The error in another form.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) {
        result = CBError(_nsError: source)
    }

    /// The error in another form if its domain is the right one.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) -> Bool {
        result = source.domain == CBErrorDomain ? CBError(_nsError: source) : nil
        return result != nil
    }

    /// The error in another form; without one, code 0.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBError {
        CBError(_nsError: source ?? NSError(domain: CBErrorDomain, code: 0))
    }
}

/// The same names on the error itself, for `catch CBError.connectionTimeout`.
extension CBError {
    /// Nothing is known of the reason.
    public static var unknown: Code { .unknown }
    /// An argument does not make sense.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute is no longer there.
    public static var invalidHandle: Code { .invalidHandle }
    /// There is no connection.
    public static var notConnected: Code { .notConnected }
    /// No room is left.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The link was lost.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The peer ended the link.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The UUID belongs to the system.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// This manager advertises already.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The link could not be made.
    public static var connectionFailed: Code { .connectionFailed }
    /// Too many links.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// Nothing is known of the device. The misspelling is Apple's.
    public static var unkownDevice: Code { .unkownDevice }
    /// Nothing is known of the device.
    public static var unknownDevice: Code { .unknownDevice }
    /// The device or the system cannot do this.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The peer has forgotten the bond.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// Encryption took too long.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// No further device can be bonded.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// On a watch only: too many notifications in the background.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// On a watch only: nearly too many notifications in the background.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// Distances cannot be measured in this way.
    public static var channelSoundingConfigurationFailed: Code { .channelSoundingConfigurationFailed }
    /// Measuring a distance failed.
    public static var channelSoundingProcedureFailed: Code { .channelSoundingProcedureFailed }
}

/// Apps have been seen to compare texts; those for 0, 1, 6, 7, 8 and 14 are Apple's.
private let errorTexts: [CBErrorCode: String] = [
    .unknown: "Unknown error.",
    .invalidParameters: "One or more parameters were invalid.",
    .invalidHandle: "The attribute is not valid any longer.",
    .notConnected: "The device is not connected.",
    .outOfSpace: "There is not enough space for the operation.",
    .operationCancelled: "The operation was cancelled.",
    .connectionTimeout: "The connection has timed out unexpectedly.",
    .peripheralDisconnected: "The specified device has disconnected from us.",
    .uuidNotAllowed: "The specified UUID is not allowed for this operation.",
    .alreadyAdvertising: "Advertising has already started.",
    .connectionFailed: "The connection could not be established.",
    .connectionLimitReached: "The maximum number of connections has been reached.",
    .unkownDevice: "The device is not known.",
    .operationNotSupported: "The operation is not supported.",
    .peerRemovedPairingInformation: "Peer removed pairing information",
    .encryptionTimedOut: "The connection could not be encrypted in time.",
    .tooManyLEPairedDevices: "Too many devices are paired already.",
    .leGattExceededBackgroundNotificationLimit: "Too many notifications arrived in the background.",
    .leGattNearBackgroundNotificationLimit: "Nearly too many notifications have arrived in the background.",
    .channelSoundingConfigurationFailed: "The distance cannot be measured in this way.",
    .channelSoundingProcedureFailed: "The distance could not be measured.",
]

extension ServiceError {
    /// The error as the API shows it; what lies behind it is its debug description.
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
    /// The error as the API shows it; nil for success.
    var apiError: (any Error)? {
        if case .failure(let error) = self { error.apiError } else { nil }
    }
}

/// The keys by which an error has the code of the layer below in its `userInfo`, where there is one (behaviours 15.9, 15.10).
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
