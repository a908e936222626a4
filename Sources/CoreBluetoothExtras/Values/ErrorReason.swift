import CoreBluetooth
import Foundation

/// In the `userInfo` of an error: the layer below that the error comes from, `ATT`, `SMP` or `HCI`. Not there where no layer has a
/// code for it. The reason in words is under `NSDebugDescriptionErrorKey`.
public let CBErrorReasonLayerKey = ErrorCauseKey.layer

/// In the `userInfo` of an error: the code of that layer, an `NSNumber`.
public let CBErrorReasonCodeKey = ErrorCauseKey.code

/// What lies behind an error of Core Bluetooth (behaviours 15.9, 15.10).
public struct ErrorReason: Hashable, Sendable {
    /// The protocols that have codes.
    public enum Layer: String, Hashable, Sendable {
        /// The attribute protocol: an Error Response (Core Vol 3 Part F 3.4.1.1).
        case att = "ATT"
        /// The security manager: why a pairing failed (Core Vol 3 Part H 3.5.5).
        case smp = "SMP"
        /// The controller, or the link: an error code (Core Vol 1 Part F).
        case hci = "HCI"
    }

    /// Whose code it is.
    public var layer: Layer
    /// The code.
    public var code: UInt8
    /// The same in words.
    public var text: String?

    /// What an error has in its `userInfo`; nil when it says nothing of a layer below.
    public init?(_ error: any Error) {
        let info = (error as NSError).userInfo
        guard let name = info[CBErrorReasonLayerKey] as? String, let layer = Layer(rawValue: name),
            let code = info[CBErrorReasonCodeKey] as? NSNumber
        else { return nil }
        self.layer = layer
        self.code = code.uint8Value
        text = info[NSDebugDescriptionErrorKey] as? String
    }
}
