import BluetoothTypes
import EventLoops
import HCI

/// Data of connections that the host has not heard of yet: on some transports events and data come by different ways, and
/// the first data may be here before Connection Complete (AB-H04).
///
/// Few packets are kept, and not for long, so that none of them can reach a later connection with the same number.
struct EarlyPackets {
    /// Packets that are kept for all handles together.
    static let maximumCount = 8
    /// How long they are kept.
    static let lifetime = Duration.milliseconds(200)

    private var packets: [(packet: ACLPacket, arrival: Instant)] = []

    /// Keeps a packet; false when there is no room.
    mutating func add(_ packet: ACLPacket, at now: Instant) -> Bool {
        packets.removeAll { now - $0.arrival > Self.lifetime }
        guard packets.count < Self.maximumCount else { return false }
        packets.append((packet, now))
        return true
    }

    /// Takes out what came for a connection.
    mutating func take(_ handle: ConnectionHandle, at now: Instant) -> [ACLPacket] {
        packets.removeAll { now - $0.arrival > Self.lifetime }
        let taken = packets.filter { $0.packet.handle == handle }.map(\.packet)
        packets.removeAll { $0.packet.handle == handle }
        return taken
    }

    mutating func removeAll() {
        packets = []
    }
}
