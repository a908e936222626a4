import BluetoothTypes

/// An ACL data packet, which carries a fragment of an L2CAP PDU (Core Vol 4 Part E 5.4.2).
///
/// Coded by hand instead of with ``PacketFields``, because it makes up most of the traffic.
package struct ACLPacket: Hashable, Sendable {
    /// The Packet_Boundary_Flag: the position of a fragment in its PDU.
    package enum Boundary: UInt8, Sendable {
        /// The start of a PDU, as sent by the host on LE links.
        case startNonFlushable = 0
        case continuation = 1
        /// The start of a PDU, as sent by the controller.
        case start = 2
        /// A complete flushable PDU; not used on LE links.
        case complete = 3

        package var isStart: Bool { self != .continuation }
    }

    package static let headerSize = 4

    package var handle: ConnectionHandle
    /// The position of the fragment in its PDU.
    package var boundary: Boundary
    /// The Broadcast_Flag, two bits; 0 on LE links.
    package var broadcast: UInt8
    package var payload: PacketBuffer

    /// Creates a packet that is not a broadcast.
    package init(handle: ConnectionHandle, boundary: Boundary, payload: PacketBuffer) {
        self.handle = handle
        self.boundary = boundary
        self.payload = payload
        broadcast = 0
    }

    /// Parses a packet. The payload shares the storage of `bytes`.
    ///
    /// - Throws: ``PacketError`` if the length differs from the one in the header (AB-H02).
    package init(reading bytes: PacketBuffer) throws(PacketError) {
        guard bytes.count >= Self.headerSize else {
            throw PacketError(.truncated(needed: Self.headerSize, available: bytes.count), at: "ACL header")
        }
        let first = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        let length = Int(bytes[2]) | Int(bytes[3]) << 8
        payload = bytes.suffix(after: Self.headerSize)
        guard payload.count >= length else {
            throw PacketError(.truncated(needed: length, available: payload.count), at: "ACL data")
        }
        guard payload.count == length else { throw PacketError(.trailing(payload.count - length), at: "ACL data") }
        handle = ConnectionHandle(rawValue: first & 0xFFF)
        boundary = Boundary(rawValue: UInt8(first >> 12 & 0b11)) ?? .startNonFlushable
        broadcast = UInt8(first >> 14)
    }

    /// Encodes the packet. The header is written into the payload's headroom, without a copy.
    package consuming func encoded() -> PacketBuffer {
        let first = handle.rawValue & 0xFFF | UInt16(boundary.rawValue) << 12 | UInt16(broadcast & 0b11) << 14
        let length = UInt16(truncatingIfNeeded: payload.count)
        var bytes = payload
        payload = []
        bytes.prepend(integer: length)
        bytes.prepend(integer: first)
        return bytes
    }
}

extension HCIPacket {
    package init(_ packet: consuming ACLPacket) {
        self.init(.acl, (consume packet).encoded())
    }
}
