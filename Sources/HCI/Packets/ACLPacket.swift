import BluetoothTypes

/// A packet of connection data: a fragment of an L2CAP PDU (Core Vol 4 Part E 5.4.2).
///
/// Written by hand rather than as ``PacketFields``: this is the packet that there are many of.
package struct ACLPacket: Hashable, Sendable {
    /// Where in a PDU the fragment lies.
    package enum Boundary: UInt8, Sendable {
        /// A PDU begins; the host sends this on LE links.
        case startNonFlushable = 0
        /// A PDU goes on.
        case continuation = 1
        /// A PDU begins; the controller sends this.
        case start = 2
        /// A whole PDU that may be flushed; not for LE.
        case complete = 3

        /// Whether a PDU begins with the fragment.
        package var isStart: Bool { self != .continuation }
    }

    /// Octets of the header.
    package static let headerSize = 4

    package var handle: ConnectionHandle
    /// Where in a PDU the fragment lies.
    package var boundary: Boundary
    /// The two broadcast bits; 0 on LE links.
    package var broadcast: UInt8
    /// The fragment.
    package var payload: PacketBuffer

    /// A fragment for a connection.
    package init(handle: ConnectionHandle, boundary: Boundary, payload: PacketBuffer) {
        self.handle = handle
        self.boundary = boundary
        self.payload = payload
        broadcast = 0
    }

    /// Reads a packet; the payload shares its storage.
    ///
    /// - Throws: ``PacketError`` when the octets are fewer or more than the header says (AB-H02).
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

    /// The packet as octets: the header goes into the payload's headroom, so that nothing is copied.
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
    /// Frames connection data.
    package init(_ packet: consuming ACLPacket) {
        self.init(.acl, (consume packet).encoded())
    }
}

extension ACLPacket: CustomStringConvertible, CustomReflectable {
    /// What ``PacketPrinter`` shows of it.
    package var description: String { PacketPrinter.describe(HCIPacket(self)) }
    /// Without parts: `dump` shows what ``description`` shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
