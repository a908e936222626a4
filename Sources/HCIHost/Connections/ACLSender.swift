import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// Distributes the controller's ACL data buffers among the connections (Core Vol 4 Part E 4.1.1).
///
/// Connections with pending data take turns and send one packet each. No connection gets a second buffer while the free
/// ones are needed for connections without any: packets to a peer out of range occupy their buffers until the
/// supervision timeout.
final class ACLSender {
    private let transmit: (HCIPacket) -> Void
    private var packetSize = 0
    private var free = 0
    // The number of connections without a packet in the controller's buffers, with or without pending data.
    private var emptyHanded = 0
    private var ring = Deque<HCIConnection>()
    private var isPumping = false
    private let loop: any EventLoop
    /// Whether the owner is watching the data in the controller for progress.
    var isWatched = false
    /// Called when data is sent to the controller while ``isWatched`` is false.
    var onData: (() -> Void)?

    init(loop: any EventLoop, transmit: @escaping (HCIPacket) -> Void) {
        self.loop = loop
        self.transmit = transmit
    }

    /// The number of free buffers in the controller, by the host's count.
    var freeBuffers: Int { free }

    /// Removes all connections. The controller now has `capacity` buffers of `packetSize` octets, all free.
    func reset(packetSize: Int, capacity: Int) {
        self.packetSize = packetSize
        free = capacity
        emptyHanded = 0
        isWatched = false
        ring.removeAll()
    }

    func add(_ connection: HCIConnection) {
        emptyHanded += 1
    }

    /// Removes a connection. Its packets no longer occupy the controller's buffers (Vol 4 Part E 4.3).
    func remove(_ connection: HCIConnection) {
        ring.removeAll { $0 === connection }
        connection.isInRing = false
        connection.leftData = connection.outstanding > 0
        _ = complete(connection.outstanding, of: connection)
        emptyHanded -= 1
        pump()
    }

    func wake(_ connection: HCIConnection) {
        if !connection.isInRing, connection.hasPackets {
            connection.isInRing = true
            ring.append(connection)
        }
        pump()
    }

    /// Returns buffers to the pool.
    ///
    /// - Returns: Whether the connection had that many packets outstanding. A larger count is clamped (AB-H01).
    func complete(_ count: Int, of connection: HCIConnection) -> Bool {
        let believed = min(count, connection.outstanding)
        if believed > 0, believed == connection.outstanding { emptyHanded += 1 }
        connection.outstanding -= believed
        free += believed
        return believed == count
    }

    func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var passedOver = 0
        while free > 0, passedOver < ring.count, let connection = ring.popFirst() {
            guard connection.outstanding == 0 || free > emptyHanded else {
                ring.append(connection)
                passedOver += 1
                continue
            }
            passedOver = 0
            sendOne(connection)
        }
    }

    private func sendOne(_ connection: HCIConnection) {
        guard let (packet, endsPDU) = connection.nextPacket(limit: packetSize) else {
            connection.isInRing = false
            return
        }
        free -= 1
        if connection.outstanding == 0 {
            emptyHanded -= 1
            connection.waitsSince = loop.now
        }
        connection.outstanding += 1
        if !isWatched {
            isWatched = true
            onData?()
        }
        if connection.hasPackets {
            ring.append(connection)
        } else {
            connection.isInRing = false
        }
        transmit(packet)
        if endsPDU { connection.onDrain?() }
    }
}
