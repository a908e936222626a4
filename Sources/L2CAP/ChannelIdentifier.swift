import BluetoothTypes

/// Names a channel on a link (Core Vol 3 Part A 2.1).
package struct ChannelIdentifier: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Any number, assigned or not.
    @inlinable
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// No channel.
    package static let null = ChannelIdentifier(rawValue: 0x0000)
    /// The Attribute Protocol.
    package static let attribute = ChannelIdentifier(rawValue: 0x0004)
    /// L2CAP's own commands.
    package static let signalling = ChannelIdentifier(rawValue: 0x0005)
    /// The Security Manager Protocol.
    package static let securityManager = ChannelIdentifier(rawValue: 0x0006)

    /// The numbers of channels that are opened and closed on an LE link (Vol 3 Part A 2.1, table of the name space).
    package static let dynamicRange: ClosedRange<UInt16> = 0x0040...0x007F

    /// Whether channels that are opened and closed may have this number.
    package var isDynamic: Bool { Self.dynamicRange.contains(rawValue) }

    /// The name for a log, or the number.
    package var description: String {
        switch self {
        case .attribute: "ATT"
        case .signalling: "signalling"
        case .securityManager: "SMP"
        default: "channel 0x" + String(rawValue, radix: 16)
        }
    }
}
