import BluetoothTypes

/// A channel identifier (CID) on a link (Core Vol 3 Part A 2.1).
package struct ChannelIdentifier: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The null identifier, which stands for no channel.
    package static let null = ChannelIdentifier(rawValue: 0x0000)
    package static let attribute = ChannelIdentifier(rawValue: 0x0004)
    /// The fixed channel of L2CAP's own commands.
    package static let signalling = ChannelIdentifier(rawValue: 0x0005)
    package static let securityManager = ChannelIdentifier(rawValue: 0x0006)

    /// The identifiers of dynamically allocated channels on an LE link (Vol 3 Part A 2.1, table of the name space).
    package static let dynamicRange: ClosedRange<UInt16> = 0x0040...0x007F

    package var isDynamic: Bool { Self.dynamicRange.contains(rawValue) }

    /// The name of a fixed channel, for logs; the number of any other.
    package var description: String {
        switch self {
        case .attribute: "ATT"
        case .signalling: "signalling"
        case .securityManager: "SMP"
        default: "channel 0x" + String(rawValue, radix: 16)
        }
    }
}
