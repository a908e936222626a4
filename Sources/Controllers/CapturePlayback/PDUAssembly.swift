import BluetoothTypes
import HCI

/// The parts of L2CAP PDUs in one direction, by connection handle.
struct PDUAssembly: Sendable {
    /// A whole PDU, and the packets that it arrived in.
    struct Whole: Hashable, Sendable {
        var pdu: ChannelPDU
        var packets: [HCIPacket]
    }

    /// A PDU that has not arrived as a whole.
    private struct Part {
        var octets: [UInt8]
        var packets: [HCIPacket]
    }

    /// The longest PDU: a length of two octets, and the header.
    private static let maximum = 65_535 + 4

    private var parts: [UInt16: Part] = [:]

    /// Adds a packet. Returns the PDU that ends with it.
    mutating func add(_ packet: HCIPacket) -> Whole? {
        guard let data = try? ACLPacket(reading: packet.bytes) else { return nil }
        let handle = data.handle.rawValue
        var part = parts[handle]
        if data.boundary.isStart { part = Part(octets: [], packets: []) }
        guard var part, part.octets.count + data.payload.count <= Self.maximum else {
            parts[handle] = nil
            return nil
        }
        part.octets += data.payload
        part.packets.append(packet)
        let octets = part.octets
        guard octets.count >= 4, octets.count >= 4 + Int(octets[0]) + Int(octets[1]) << 8 else {
            parts[handle] = part
            return nil
        }
        parts[handle] = nil
        guard let pdu = ChannelPDU(PacketBuffer(octets)) else { return nil }
        return Whole(pdu: pdu, packets: part.packets)
    }

    mutating func forget(_ handle: UInt16) { parts[handle] = nil }
}
