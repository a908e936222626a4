import BluetoothTypes

/// An HCI packet, without the packet type octet that precedes it on a byte stream.
package struct HCIPacket: Hashable, Sendable {
    /// The H4 packet types (Core Vol 4 Part A 2).
    package enum Kind: UInt8, Sendable, CaseIterable {
        case command = 1
        case acl = 2
        case synchronous = 3
        case event = 4
        case isochronous = 5
    }

    /// The packet type, which is the packet indicator of UART transports (Core Vol 4 Part A 2).
    package var kind: Kind
    /// The packet, starting with its header.
    package var bytes: PacketBuffer

    @inlinable
    package init(_ kind: Kind, _ bytes: PacketBuffer) { (self.kind, self.bytes) = (kind, bytes) }
}

/// The direction of a packet.
package enum HCIDirection: Hashable, Sendable {
    /// From the host to the controller.
    case hostToController
    /// From the controller to the host.
    case controllerToHost
}
