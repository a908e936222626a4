import BluetoothTypes
import EventLoops
import HCI

/// A buffer for data whose connection is not known yet. On some transports events and data travel on different paths,
/// so the first data can arrive before Connection Complete (AB-H04, quirk 1).
///
/// The number of packets per handle and their lifetime are limited, so that no packet reaches a later connection with
/// the same handle, and a handle that never becomes a connection does not use the space of others (quirk 13).
struct EarlyPackets {
    /// The maximum number of packets per handle.
    static let maximumCount = 8
    static let maximumHandles = 8
    /// How long a packet is kept. The longest delay observed is 100 ms.
    static let lifetime = Duration.milliseconds(200)

    private var packets: [(packet: ACLPacket, arrival: Instant)] = []

    /// Keeps a packet.
    ///
    /// - Returns: False if the packet was dropped because a limit was reached.
    mutating func add(_ packet: ACLPacket, at now: Instant) -> Bool {
        packets.removeAll { now - $0.arrival > Self.lifetime }
        let handles = handles
        guard handles.contains(packet.handle) || handles.count < Self.maximumHandles,
            packets.count(where: { $0.packet.handle == packet.handle }) < Self.maximumCount
        else { return false }
        packets.append((packet, now))
        return true
    }

    /// Removes and returns the packets of a connection, in order of arrival.
    mutating func take(_ handle: ConnectionHandle, at now: Instant) -> [ACLPacket] {
        packets.removeAll { now - $0.arrival > Self.lifetime }
        let taken = packets.filter { $0.packet.handle == handle }.map(\.packet)
        packets.removeAll { $0.packet.handle == handle }
        return taken
    }

    mutating func removeAll() {
        packets = []
    }

    var handles: Set<ConnectionHandle> { Set(packets.map(\.packet.handle)) }
}
