import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// Shares the controller's buffers among the connections (Core Vol 4 Part E 4.1.1).
///
/// Connections with something to send take turns, one packet each. None takes a second buffer that another one without
/// any may need: packets to a peer that is out of reach stay in the buffers until the supervision timeout.
final class ACLSender {
    private let transmit: (HCIPacket) -> Void
    private var packetSize = 0
    private var free = 0
    // Connections that hold no buffer, whether or not they have something to send.
    private var emptyHanded = 0
    private var ring = Deque<HCIConnection>()
    private var isPumping = false
    private let loop: any EventLoop
    /// Whether somebody looks after what the controller has.
    var isWatched = false
    /// Called when the controller has data, and nobody looks after them.
    var onData: (() -> Void)?

    init(loop: any EventLoop, transmit: @escaping (HCIPacket) -> Void) {
        self.loop = loop
        self.transmit = transmit
    }

    /// Buffers of the controller that are free, as far as the host knows.
    var freeBuffers: Int { free }

    /// Forgets all connections; the controller has these buffers, all empty.
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

    /// Takes a connection out. Its packets have left the controller's buffers (Vol 4 Part E 4.3).
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

    /// Takes buffers back.
    ///
    /// - Returns: Whether the connection had so many packets outstanding; more than that are not believed (AB-H01).
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
