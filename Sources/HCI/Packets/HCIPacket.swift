import BluetoothTypes

/// A packet between a host and a controller, without the octet that tells its type on a byte stream.
package struct HCIPacket: Hashable, Sendable {
    /// The packet types of H4 (Core Vol 4 Part A 2).
    package enum Kind: UInt8, Sendable, CaseIterable {
        case command = 1
        case acl = 2
        case synchronous = 3
        case event = 4
        case isochronous = 5
    }

    /// What the packet is.
    package var kind: Kind
    /// The packet from its first header octet on.
    package var bytes: PacketBuffer

    /// A packet of the given kind.
    @inlinable
    package init(_ kind: Kind, _ bytes: PacketBuffer) {
        self.kind = kind
        self.bytes = bytes
    }
}
