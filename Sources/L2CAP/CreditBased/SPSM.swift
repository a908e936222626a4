import BluetoothTypes

/// Names a service that takes credit-based channels: the Simplified Protocol/Service Multiplexer (Core Vol 3 Part A
/// 4.22). Apple's API calls it a PSM.
package struct SPSM: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Any number, valid or not.
    @inlinable
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The Enhanced Attribute Protocol.
    package static let enhancedAttribute = SPSM(rawValue: 0x0027)
    /// All numbers that a service may have.
    package static let validRange: ClosedRange<UInt16> = 0x0001...0x00FF
    /// The numbers that are given out on demand (behaviour 8.2).
    package static let dynamicRange: ClosedRange<UInt16> = 0x0080...0x00FF

    /// Whether a service may have this number.
    package var isValid: Bool { Self.validRange.contains(rawValue) }

    /// The name for a log, or the number.
    package var description: String {
        self == .enhancedAttribute ? "EATT" : "SPSM 0x" + String(rawValue, radix: 16)
    }
}
