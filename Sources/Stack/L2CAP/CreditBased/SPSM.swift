import BluetoothTypes

/// A Simplified Protocol/Service Multiplexer: the number of a service that accepts credit-based channels (Core Vol 3
/// Part A 4.22). Apple's API calls it a PSM.
package struct SPSM: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Creates an SPSM from any number, valid or not.
    @inlinable
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The Enhanced Attribute Protocol.
    package static let enhancedAttribute = SPSM(rawValue: 0x0027)
    /// The SPSMs that a request may name. All others are reserved.
    package static let validRange: ClosedRange<UInt16> = 0x0001...0x00FF
    /// The SPSMs that are allocated dynamically (behaviour 8.2).
    package static let dynamicRange: ClosedRange<UInt16> = 0x0080...0x00FF

    /// Whether the number lies in ``validRange``.
    package var isValid: Bool { Self.validRange.contains(rawValue) }

    /// The name of the service, for logs, or else the number.
    package var description: String {
        self == .enhancedAttribute ? "EATT" : "SPSM 0x" + String(rawValue, radix: 16)
    }
}
