import BluetoothTypes

/// Names a service that takes credit-based channels: the Simplified Protocol/Service Multiplexer (Core Vol 3 Part A
/// 4.22). Apple's API calls it a PSM.
public struct SPSM: WireValue, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: UInt16

    /// Any number, valid or not.
    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The Enhanced Attribute Protocol.
    public static let enhancedAttribute = SPSM(rawValue: 0x0027)
    /// All numbers that a service may have.
    public static let validRange: ClosedRange<UInt16> = 0x0001...0x00FF
    /// The numbers that are given out on demand (behaviour 8.2).
    public static let dynamicRange: ClosedRange<UInt16> = 0x0080...0x00FF

    /// Whether a service may have this number.
    public var isValid: Bool { Self.validRange.contains(rawValue) }

    /// The name for a log, or the number.
    public var description: String {
        self == .enhancedAttribute ? "EATT" : "SPSM 0x" + String(rawValue, radix: 16)
    }
}
