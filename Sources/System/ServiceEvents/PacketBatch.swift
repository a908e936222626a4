import BluetoothTypes
import Foundation

/// A line of the stream of packets.
///
/// It is beside its packets: their fields are specialized for reading and writing in this module alone.
package struct PacketBatch: Codable, Hashable, Sendable {
    /// The kind of the line among those of `harald monitor --json`: `packets`.
    package var kind = "packets"
    /// The number of packets that were dropped before or among these, because they were not read in time.
    package var lost: Int
    /// The packets in Base64.
    package var data: Data

    package init(_ packets: [MonitoredPacket], lost: Int) {
        self.lost = lost
        var octets = PacketBuffer(headroom: 0)
        for packet in packets { packet.write(to: &octets) }
        data = Data(octets)
    }

    /// The packets, in their order.
    ///
    /// - Throws: ``PacketError`` if the data are malformed.
    package func packets() throws(PacketError) -> [MonitoredPacket] {
        var reader = FieldReader(PacketBuffer([UInt8](data)))
        var packets: [MonitoredPacket] = []
        while reader.remaining > 0 {
            var packet = MonitoredPacket()
            try packet.read(from: &reader)
            packets.append(packet)
        }
        return packets
    }
}
