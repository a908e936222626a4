import BluetoothTypes

/// Names a channel on a link (Core Vol 3 Part A 2.1).
public struct ChannelIdentifier: WireValue, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: UInt16

    /// Any number, assigned or not.
    @inlinable
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// No channel.
    public static let null = ChannelIdentifier(rawValue: 0x0000)
    /// The Attribute Protocol.
    public static let attribute = ChannelIdentifier(rawValue: 0x0004)
    /// L2CAP's own commands.
    public static let signalling = ChannelIdentifier(rawValue: 0x0005)
    /// The Security Manager Protocol.
    public static let securityManager = ChannelIdentifier(rawValue: 0x0006)

    /// The numbers of channels that are opened and closed on an LE link (Vol 3 Part A 2.1, table of the name space).
    public static let dynamicRange: ClosedRange<UInt16> = 0x0040...0x007F

    /// Whether channels that are opened and closed may have this number.
    public var isDynamic: Bool { Self.dynamicRange.contains(rawValue) }

    /// The name for a log, or the number.
    public var description: String {
        switch self {
        case .attribute: "ATT"
        case .signalling: "signalling"
        case .securityManager: "SMP"
        default: "channel 0x" + String(rawValue, radix: 16)
        }
    }
}
