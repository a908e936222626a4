import CoreBluetooth
import Foundation

/// The key in the `userInfo` of an error for the lower layer that caused it: `ATT`, `SMP` or `HCI`. Missing if no layer
/// has a code for it (behaviour 15.10).
///
/// A text with the reason is under `NSDebugDescriptionErrorKey`.
public let CBErrorReasonLayerKey = ErrorCauseKey.layer

/// The key in the `userInfo` of an error for the code of the lower layer, an `NSNumber` (behaviour 15.10).
public let CBErrorReasonCodeKey = ErrorCauseKey.code

/// The cause of a Core Bluetooth error in a lower layer (behaviours 15.9, 15.10).
public struct ErrorReason: Hashable, Sendable {
    /// A protocol with error codes.
    public enum Layer: String, Hashable, Sendable {
        /// The attribute protocol, in an Error Response (Core Vol 3 Part F 3.4.1.1).
        case att = "ATT"
        /// The Security Manager, in Pairing Failed (Core Vol 3 Part H 3.5.5).
        case smp = "SMP"
        /// The controller or the link, as an HCI error code (Core Vol 1 Part F).
        case hci = "HCI"
    }

    /// The layer that the code belongs to.
    public var layer: Layer
    /// The code, as ``layer`` defines it.
    public var code: UInt8
    /// A text with the reason, if there is one.
    public var text: String?

    /// Reads the cause from the `userInfo` of an error. Nil if it has no code of a lower layer.
    ///
    /// - Parameter error: Any error. Those of Core Bluetooth's domains can have a cause.
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
