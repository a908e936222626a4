import BluetoothTypes
import EventLoops
import HCI

/// Data of connections that the host has not heard of yet: on some transports events and data come by different ways, and
/// the first data may be here before Connection Complete (AB-H04, quirk 1).
///
/// Few packets are kept of each handle, and not for long, so that none of them can reach a later connection with the same
/// number, and what comes of a handle that never becomes a connection takes no room from others (quirk 13).
struct EarlyPackets {
    /// Packets that are kept for one handle.
    static let maximumCount = 8
    /// Handles of which packets are kept.
    static let maximumHandles = 8
    /// How long they are kept. The worst that was seen is 100 ms.
    static let lifetime = Duration.milliseconds(200)

    private var packets: [(packet: ACLPacket, arrival: Instant)] = []

    /// Keeps a packet; false when there is no room.
    mutating func add(_ packet: ACLPacket, at now: Instant) -> Bool {
        packets.removeAll { now - $0.arrival > Self.lifetime }
        let handles = Set(packets.map(\.packet.handle))
        guard handles.contains(packet.handle) || handles.count < Self.maximumHandles,
            packets.count(where: { $0.packet.handle == packet.handle }) < Self.maximumCount
        else { return false }
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
